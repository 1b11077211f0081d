"""The documents are true: every command in them is run, and prints what they say it prints."""

import contextlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command import invoke

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(), flags=re.M | re.S)


def sessions(document: Path) -> list[tuple[str, str]]:
    """(command, what it prints) for each `$ nungil …` in a console block."""
    found = []
    for block in blocks(document, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


SESSIONS = [
    pytest.param(d, c, o, id=f"{d.name}: {c}") for d in DOCUMENTS for c, o in sessions(d) if not c.startswith("make")
]
PROGRAMS = [pytest.param(b, id=f"{d.name} {n}") for d in DOCUMENTS for n, b in enumerate(blocks(d, "python"))]


def test_there_is_something_to_run():
    assert len(SESSIONS) >= 4
    assert PROGRAMS


def comparable(text: str) -> list[str]:
    """Lines; a residual of rounding only is the same on every machine but for its last digits."""
    return [
        re.sub(r"residual \S+e-1[5-9]:|residual 0.0e\+00:", "residual (rounding):", line.rstrip())
        for line in text.splitlines()
    ]


@pytest.mark.parametrize(("document", "command", "output"), SESSIONS)
def test_each_command_prints_what_the_document_says(document, command, output, tmp_path):
    words = shlex.split(command)
    assert words[0] == "nungil", "documents show commands of nungil and of make"
    for name, form in re.findall(r"(\S+\.(json|tsv))\b", command):
        prepared = next(block for d in [document, *DOCUMENTS] for block in blocks(d, form))
        (tmp_path / name).write_text(prepared)
    with contextlib.chdir(tmp_path):
        found = invoke(*words[1:])
    assert found.returncode == 0, found.stderr
    shown, printed = comparable(output), comparable(found.stdout)
    if "…" in shown:  # a line with only … stands for lines left out
        gap = shown.index("…")
        assert printed[:gap] == shown[:gap]
        assert not shown[gap + 1 :] or printed[-len(shown[gap + 1 :]) :] == shown[gap + 1 :]
    else:
        assert printed == shown


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_runs(program, tmp_path):
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 0, found.stderr


def test_links_inside_the_project_lead_somewhere():
    for document in [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
