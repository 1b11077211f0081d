"""`nungil` with something that happens to one process at one update: rank.py WHAT RANK UPDATE nungil's arguments.

signal   it gets SIGTERM         infinity  its loss becomes infinite
death    it is killed            fault     it fails with an error of its own
staying  it does not end, though all is done
"""

import os
import signal
import sys

from nungil.cli.main import main
from nungil.errors import ResourceError
from nungil.runs.session import Session


def happening(what, update):
    """Session's loss, with the event in it."""
    loss_of, happened = Session._loss, []

    def loss(session, batch):
        found = loss_of(session, batch)
        if session.done + 1 != update or happened:
            return found
        happened.append(update)
        if what == "signal":
            signal.raise_signal(signal.SIGTERM)
        if what == "death":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "fault":
            raise ResourceError("the fault of process 1")
        return found._replace(total=found.total * float("inf")) if what == "infinity" else found

    Session._loss = loss


if __name__ == "__main__":
    what, rank, update, *sys.argv[1:] = sys.argv[1:]
    chosen = os.environ["RANK"] == rank
    if chosen and what != "staying":
        happening(what, int(update))
    try:
        main()
    finally:
        if chosen and what == "staying":
            signal.pause()
