"""Keys of clients. Compared in constant time, kept as digests, never printed."""

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path

from nungil.errors import UsageError
from nungil.settings import read_text

SHORTEST = 16


class Keys:
    """The keys of a file; without keys, every request is allowed."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._digests = tuple(_digest(key) for key in keys)

    @classmethod
    def read(cls, path: Path) -> "Keys":
        """Read a key per line; empty lines and those that begin with # are skipped."""
        lines = (line.strip() for line in read_text(path).splitlines())
        keys = [line for line in lines if line and not line.startswith("#")]
        if not keys:
            raise UsageError(f"{path}: there is no key in it; write one on a line, {SHORTEST} characters or more")
        for number, key in enumerate(keys, 1):
            if len(key) < SHORTEST:
                raise UsageError(
                    f"{path}: key {number} is short enough to be guessed; use {SHORTEST} characters or more"
                )
        return cls(keys)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def allow(self, given: str | None) -> bool:
        """Whether this is one of the keys. Always compares all of them."""
        if not self._digests:
            return True
        digest = _digest(given or "")
        same = [hmac.compare_digest(digest, one) for one in self._digests]
        return any(same) and given is not None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def bearer(header: str | None) -> str | None:
    """The key of `Authorization: Bearer KEY`."""
    scheme, _, key = (header or "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" and key.strip() else None
