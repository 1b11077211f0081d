"""`nungil info`: versions and machine, or a model's card, as Markdown for a bug report."""

import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from nungil import __version__
from nungil.cli.talk import readable_json, write


def info(
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help="A model folder, for its card.")] = None,
) -> None:
    """Print versions and machine, or the card of a model, as Markdown for a bug report.

    \b
    nungil info
    nungil info runs/demo
    """
    if folder is not None:
        _card(folder)
        return
    write("| what | value |\n|---|---|")
    for name, value in [*_machine(), *((name, _version(name)) for name in _needed("")), *_extras()]:
        write(f"| {name} | {value} |")


def _card(folder: Path) -> None:
    """The model card; for a run that is not finished, its config."""
    from nungil.model.folder import read_config

    config = read_config(folder)
    card = folder / "README.md"
    if card.is_file():
        write(card.read_text(encoding="utf-8").rstrip("\n"))
    else:
        write(f"{folder} has no card yet: it is written when training is done.\n\n```json")
        write(readable_json(config.model_dump(mode="json")) + "\n```")


def _machine() -> list[tuple[str, str]]:
    from nungil.batches.workers import cores

    return [
        ("nungil", __version__),
        ("Python", platform.python_version()),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("processor", _processor()),
        ("cores", str(cores())),
        ("memory", _memory()),
    ]


def _extras() -> list[tuple[str, str]]:
    rows = []
    for extra in metadata.metadata("nungil").get_all("Provides-Extra") or []:
        versions = [(package, _version(package)) for package in _needed(extra)]
        missing = any(version == "not installed" for _, version in versions)
        value = ", ".join(f"{package} {version}" for package, version in versions)
        if extra not in ("all", "dev"):
            rows.append((f"extra `{extra}`", f"not installed: pip install 'nungil[{extra}]'" if missing else value))
    return rows


def _needed(extra: str) -> list[str]:
    """The packages that nungil requires, or one of its extras."""
    names = []
    for requirement in metadata.requires("nungil") or []:
        package, _, condition = requirement.partition(";")
        if ("extra" not in condition) if not extra else re.search(rf"extra == ['\"]{extra}['\"]", condition):
            names.append(re.split(r"[\s<>=!~\[]", package)[0])
    return names


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    except (ValueError, OSError, AttributeError):
        return "unknown"
