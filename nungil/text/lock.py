"""A lock: one command at a time on a file or folder. It is the system's, so a command that dies lets go of it."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nungil.errors import UsageError

PAUSE = 0.05  # seconds between two tries


@contextmanager
def locked(place: Path, refusal: str, patience: float = 0.0) -> Iterator[None]:
    """Keep `place`, which must be there, to this command; refuse if another has it, after so many seconds."""
    if sys.platform == "win32":  # has no such locks
        yield
        return
    handle = os.open(place, os.O_RDONLY)
    try:
        if not _taken(handle, time.monotonic() + patience):
            raise UsageError(refusal)
        yield
    finally:
        os.close(handle)


def _taken(handle: int, end: float) -> bool:
    """Whether the lock is ours, at the latest by then. Where a file system has no locks, everybody has it."""
    import fcntl

    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(PAUSE)
        except OSError:
            return True
        else:
            return True
