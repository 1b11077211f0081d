"""The house rules: imports point one way, the file map is true, nothing dangerous is called, files stay small."""

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "nungil"

# The way of the data. A module imports only from what stands to its left.
LAYERS = [
    *("errors", "settings", "records", "text", "batches", "attention", "model", "training", "decoding", "scoring"),
    *("inspection", "pipeline", "engines", "runs", "studies", "serving", "cli"),
]
ANYWHERE = {"__init__", "__main__"}
TORCH_FREE = [
    "errors.py",
    "settings.py",
    "records.py",
    "text",
    "scoring",
    "cli",
    "runs/data.py",
    "runs/labels.py",
    "runs/sets.py",
    "runs/prepare.py",
    "runs/kept.py",
    "runs/answers.py",
    "runs/asked.py",
    "inspection/ledger.py",
    "inspection/numbers.py",
    "inspection/sheet.py",
    "inspection/arithmetic.py",
    "inspection/worked",
    "inspection/stories.py",
    "inspection/layout.py",
    "inspection/merging.py",
    *(f"inspection/{name}.py" for name in ("record", "checks", "steps", "beam", "picture", "pictures", "coverage")),
    *(f"inspection/{name}.py" for name in ("saving", "page", "colours", "links", "heads", "shown")),
    "inspection/drawings",
    "inspection/ranks.py",
    "inspection/lensmap.py",
    "inspection/difference.py",
    "inspection/honesty.py",
    "inspection/badge.py",
    *(f"studies/{name}.py" for name in ("claims", "scale", "job", "extras", "material", "statistics", "finding")),
    *(f"studies/{name}.py" for name in ("common", "figures", "tables", "report")),
]


def tracked():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def layer_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """Every module imported anywhere in the file, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def misdirected(path: Path) -> list[str]:
    here = layer_of(path)
    theirs = {name.split(".")[1] for name in imports_of(path) if name.startswith("nungil.")}
    theirs &= set(LAYERS)
    return [] if here in ANYWHERE else [name for name in theirs if LAYERS.index(name) > LAYERS.index(here)]


def test_imports_point_one_way():
    for path in PACKAGE.rglob("*.py"):
        assert layer_of(path) in {*LAYERS, *ANYWHERE}, f"{path}: give its layer a place in LAYERS"
        assert not misdirected(path), f"{path} may not import {misdirected(path)}"


def test_the_direction_test_can_fail(tmp_path, monkeypatch):
    monkeypatch.setattr("test_house.PACKAGE", tmp_path)
    path = tmp_path / "attention" / "bad.py"
    path.parent.mkdir()
    path.write_text("def late():\n    from nungil.inspection.ledger import Ledger\n    return Ledger\n")
    assert misdirected(path) == ["inspection"]


def test_what_should_be_light_imports_no_torch():
    for place in TORCH_FREE:
        paths = [PACKAGE / place] if place.endswith(".py") else (PACKAGE / place).rglob("*.py")
        for path in paths:
            assert not any(name.split(".")[0] == "torch" for name in imports_of(path)), path


def test_the_file_map_lists_each_file_and_nothing_else():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    block = text.split("<!-- file map -->")[1].split("```")[1]
    listed = {line.split()[0] for line in block.splitlines()[1:] if line.strip()}
    files = {name for name in tracked() if not name.startswith("tests/") and not name.endswith("__init__.py")}
    assert listed == files


def test_nothing_that_runs_what_it_reads():
    danger = re.compile(r"\bpickle\b|torch\.load\b|\byaml\.load\(|(?<![\w.])eval\(|(?<![\w.])exec\(")
    for path in PACKAGE.rglob("*.py"):
        assert not danger.search(path.read_text()), path


# `nungil look {folder}`, `nungil {verb} {folder}`, `nungil score --hypotheses {file}`: what stands in the braces.
SUGGESTED = re.compile(r"nungil (?:[a-z]+|\{verb\}) (?:--(?!example)[a-z-]+ )*\{([^}]*)\}")
QUOTED = re.compile(r"^(as_typed\(|(shlex\.)?quote\(|' '\.join\(|(same|name|option)$)")  # here, or before; or no path


def unquoted(source: str) -> list[str]:
    """Commands that a source suggests with something in them that a shell might take apart."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                part.value if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
                for part in node.values
            )
            found += [match[0] for match in SUGGESTED.finditer(text) if not QUOTED.search(match[1])]
    return found


def test_a_path_in_a_suggested_command_is_quoted():
    for path in PACKAGE.rglob("*.py"):
        assert not unquoted(path.read_text()), f"{path}: put as_typed(…) around it"


def test_the_test_of_quoting_can_fail():
    assert unquoted("f'{a}; next: nungil resume {self.folder}'") == ["nungil resume {self.folder}"]
    assert unquoted("f'echo | nungil {verb} {as_typed(a)}\\nnungil score --hypotheses {b}'") == [
        "nungil score --hypotheses {b}"
    ]


def test_files_stay_under_400_lines_and_functions_under_60():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= 400, f"{path} owns more than one noun"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path}: {node.name}"


def test_the_version_is_one():
    from nungil import __version__

    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()
