"""Store: the ids of a whole corpus on disk, memory-mapped, with a fingerprint. Knows no torch.

store.json      rows, columns, fingerprint; written last, so that a store is complete or absent
source.ids      ids of all rows, concatenated: 2 bytes each, 4 for a large vocabulary
source.ends     where each row ends, 8 bytes each
target.ids, target.ends, or label.ids, label.ends
"""

import hashlib
import json
import mmap
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nungil.errors import CorpusError, ResourceError
from nungil.text.atomic import sync
from nungil.text.tokenizers.base import Ids

FORMAT = 1
PIECE = 2**20  # ids counted at once


class Column(NamedTuple):
    """One side of the corpus: all ids, and where each row ends."""

    ids: NDArray[Any]
    ends: NDArray[np.int64]

    def row(self, number: int) -> NDArray[Any]:
        """The ids of one row."""
        return self.ids[self.ends[number - 1] if number else 0 : self.ends[number]]

    def lengths(self) -> NDArray[np.int32]:
        """How many ids each row has."""
        return np.diff(self.ends, prepend=0).astype(np.int32)

    def counts(self, size: int) -> NDArray[np.int64]:
        """How often each of `size` ids occurs."""
        found = np.zeros(size, dtype=np.int64)
        for start in range(0, len(self.ids), PIECE):  # bincount converts its input to int64
            found += np.bincount(self.ids[start : start + PIECE], minlength=size)
        return found


class Store:
    """A corpus as ids. Opening one reads only store.json."""

    def __init__(self, folder: Path) -> None:
        plain = _read_manifest(folder)
        self.folder, self.rows, self.fingerprint = folder, int(plain["rows"]), str(plain["fingerprint"])
        self.columns = {name: self._map(name, kind) for name, kind in plain["columns"].items()}

    def __len__(self) -> int:
        return self.rows

    def verify(self) -> None:
        """Read everything once and compare it with the fingerprint."""
        digest = hashlib.blake2b(digest_size=16)
        for name, column in self.columns.items():
            digest.update(_side_digest(name, column.ids, column.ends))
        if digest.hexdigest() != self.fingerprint:
            raise CorpusError(
                f"{self.folder}: the stored ids were changed since they were written; train again in another folder"
            )

    def release(self) -> None:
        """Release the pages read so far: they stay in the system's cache, but are no longer this process's memory."""
        for array in (array for column in self.columns.values() for array in column):
            mapped = getattr(array, "_mmap", None)
            if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)

    def _map(self, name: str, kind: str) -> Column:
        ends = self._array(f"{name}.ends", np.dtype("<i8"))
        ids = self._array(f"{name}.ids", np.dtype(kind))
        if len(ends) != self.rows or len(ids) != (int(ends[-1]) if self.rows else 0):
            raise CorpusError(f"{self.folder}: {name}.ids does not hold what store.json says; make the store again")
        return Column(ids, ends)

    def _array(self, name: str, kind: np.dtype[Any]) -> NDArray[Any]:
        path = self.folder / name
        try:
            if path.stat().st_size == 0:  # an empty file cannot be mapped
                return np.empty(0, dtype=kind)
            return np.memmap(path, dtype=kind, mode="r")
        except (OSError, ValueError):
            raise CorpusError(f"{self.folder}: {name} is missing or cut off; make the store again") from None


class StoreWriter:
    """Writes a store to a temporary folder and renames it when complete. Leaves nothing behind if it fails."""

    def __init__(self, folder: Path, sizes: Mapping[str, int]) -> None:
        if folder.exists():
            raise CorpusError(f"{folder}: exists already; a store is never overwritten")
        self.folder, self.rows = folder, 0
        self._beside = folder.with_name(f".{folder.name}.part-{os.getpid()}")
        self._kinds = {name: "<u2" if size <= 2**16 else "<u4" for name, size in sizes.items()}
        self._ends = dict.fromkeys(sizes, 0)
        self._digests = {name: (hashlib.blake2b(digest_size=16), hashlib.blake2b(digest_size=16)) for name in sizes}
        self._files: dict[str, tuple[IO[bytes], IO[bytes]]] = {}

    def __enter__(self) -> "StoreWriter":
        shutil.rmtree(self._beside, ignore_errors=True)
        try:
            self._beside.mkdir(parents=True)
        except OSError as error:
            raise ResourceError(f"{self.folder}: the store could not be written: {error.strerror}") from None
        for name in self._kinds:
            self._files[name] = (self._open(f"{name}.ids"), self._open(f"{name}.ends"))
        return self

    def append(self, columns: Mapping[str, Ids]) -> None:
        """Add rows: the same number to each column."""
        counts = {len(ids.lengths) for ids in columns.values()}
        if len(counts) != 1 or columns.keys() != self._kinds.keys():
            raise ValueError(f"columns {list(self._kinds)} are needed, with the same number of rows")
        for name, ids in columns.items():
            ends = self._ends[name] + np.cumsum(ids.lengths, dtype=np.int64)
            parts = (ids.flat.astype(self._kinds[name]).tobytes(), ends.astype("<i8").tobytes())
            for file, digest, part in zip(self._files[name], self._digests[name], parts, strict=True):
                digest.update(part)
                self._write(file, part)
            self._ends[name] = int(ends[-1]) if len(ends) else self._ends[name]
        self.rows += counts.pop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for file in (file for pair in self._files.values() for file in pair):
                self._flush(file)
            if kind is None:
                self._finish()
        finally:
            shutil.rmtree(self._beside, ignore_errors=True)

    def _finish(self) -> None:
        """Write the manifest last, then rename the folder: it is complete or absent."""
        digest = hashlib.blake2b(digest_size=16)
        for name, (ids, ends) in self._digests.items():
            digest.update(name.encode() + ids.digest() + ends.digest())
        plain = {"format": FORMAT, "rows": self.rows, "columns": self._kinds, "fingerprint": digest.hexdigest()}
        manifest = self._open("store.json")
        self._write(manifest, (json.dumps(plain, indent=1) + "\n").encode())
        self._flush(manifest)
        sync(self._beside)
        self._beside.rename(self.folder)
        sync(self.folder.parent)

    def _open(self, name: str) -> IO[bytes]:
        return (self._beside / name).open("wb")

    def _write(self, file: IO[bytes], part: bytes) -> None:
        try:
            file.write(part)
        except OSError as error:
            raise ResourceError(f"{self.folder}: the store could not be written: {error.strerror}") from None

    def _flush(self, file: IO[bytes]) -> None:
        try:
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise ResourceError(f"{self.folder}: the store could not be written: {error.strerror}") from None
        finally:
            with suppress(OSError):  # closing tries to flush again
                file.close()


def _side_digest(name: str, ids: NDArray[Any], ends: NDArray[Any]) -> bytes:
    parts = (hashlib.blake2b(part.view(np.uint8).data, digest_size=16) for part in (ids, ends))
    return name.encode() + b"".join(part.digest() for part in parts)


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        plain = json.loads((folder / "store.json").read_text())
    except FileNotFoundError:
        raise CorpusError(f"{folder}: there is no store (store.json is missing)") from None
    except (OSError, ValueError):
        raise CorpusError(f"{folder}: store.json cannot be read; make the store again") from None
    sound = isinstance(plain, dict) and plain.get("format") == FORMAT and isinstance(plain.get("columns"), dict)
    sound = sound and isinstance(plain.get("rows"), int) and isinstance(plain.get("fingerprint"), str)
    if not sound or not all(kind in ("<u2", "<u4") and name.isidentifier() for name, kind in plain["columns"].items()):
        raise CorpusError(f"{folder}: store.json is not of a store of format {FORMAT}; make the store again")
    return dict(plain)
