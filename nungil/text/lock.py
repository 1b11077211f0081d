"""A lock: one command at a time on a file or folder. The system releases it when a command dies."""

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
    """Lock `place`, which must exist; refuse if it is still locked after so many seconds."""
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
    """Try to lock until a deadline; returns whether it succeeded. Without locks in the file system it always does."""
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
