"""Run a command: as a process of its own, or within this one where torch is loaded already."""

import contextlib
import io
import os
import subprocess
import sys
from typing import NamedTuple
from unittest import mock

NUNGIL = [sys.executable, "-m", "nungil"]
os.environ["OMP_NUM_THREADS"] = "1"  # of processes that tests start: several run at once, and threads would only wait


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


# Not subprocess's `preexec_fn`: it runs Python in a copy of this process, whose other threads may have held locks.
WITH_LITTLE_ROOM = (
    "import os, resource, sys; most = int(sys.argv[1]); resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)); "
    "os.execv(sys.executable, [sys.executable, '-m', 'nungil', *sys.argv[2:]])"
)


def run(*arguments, **options) -> Ended:
    """As a user does: a process of its own."""
    return _ended([*NUNGIL, *arguments], **options)


def run_with_little_room(most: int, *arguments) -> Ended:
    """The same where no file may grow beyond so many bytes, as on a disk that is nearly full."""
    return _ended([sys.executable, "-c", WITH_LITTLE_ROOM, str(most), *arguments])


def run_redirected(redirection: str, *arguments) -> Ended:
    """The same with streams as a shell closes them or sends them elsewhere: `>&-`, `>/dev/full`."""
    return _ended(["sh", "-c", f'exec "$@" {redirection}', "sh", *NUNGIL, *arguments])


def _ended(command, **options) -> Ended:
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    return Ended(found.returncode, found.stdout, found.stderr)


def invoke(*arguments) -> Ended:
    """The same through the same door, without starting Python and torch anew."""
    from nungil.cli.main import main

    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["nungil", *arguments]),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return Ended(code, stdout.getvalue(), stderr.getvalue())
