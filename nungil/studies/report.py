"""The report of a study as one page that works offline: pictures are in it, nothing is fetched. No torch."""

import base64
import html
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from nungil import __version__
from nungil.batches.workers import cores
from nungil.studies.claims import Claim
from nungil.studies.figures import draw
from nungil.studies.finding import VERDICTS, Chart, Finding, Table, comparison_table
from nungil.studies.job import Record
from nungil.studies.tables import to_csv, to_tex
from nungil.text.atomic import whole_bytes
from nungil.text.counts import counted

PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "sacrebleu", "matplotlib")
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#17212b;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:2.2rem}.answer{font-size:1.2rem;border-left:5px solid #17212b;
padding:.3rem 1rem}.verdict{font-weight:bold}table{border-collapse:collapse;font-size:.85rem;margin:.6rem 0}
th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #ccc}
th:first-child,td:first-child,.words th,.words td{text-align:left}
figure{margin:1rem 0}img{max-width:100%}figcaption,.note{font-size:.85rem;color:#444}
pre{background:#f2f4f6;padding:.6rem;overflow-x:auto;white-space:pre-wrap}div.wide{overflow-x:auto}
"""
REPORT = "report.html"
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Account:
    """All that a report tells."""

    claim: Claim
    method: str
    finding: Finding
    records: tuple[Record, ...]
    facts: tuple[tuple[str, str], ...]  # how it was measured: budget, data, sizes
    command: str


def write_report(account: Account, folder: Path) -> Path:
    """report.html, figures as PDF and PNG, results.csv and results.tex; where the report is."""
    finding = account.finding
    for chart in finding.charts:
        for form in ("pdf", "png"):
            whole_bytes(folder / f"{chart.name}.{form}", draw(chart, form))
    whole_bytes(folder / "results.csv", to_csv(account.claim.name, account.records).encode())
    whole_bytes(folder / "results.tex", to_tex(_tables(finding)).encode())
    page = folder / REPORT
    body = section(account) + _setting(account)
    whole_bytes(page, page_of(f"{account.claim.name}: {account.claim.question}", body).encode())
    return page


def write_overview(accounts: Sequence[Account], folder: Path, command: str) -> Path:
    """One report of several studies: their answers first, then each in full."""
    rows = "".join(
        f'<tr><td><a href="#{_text(one.claim.name)}">{_text(one.claim.name)}</a></td>'
        f'<td>{_text(one.claim.said)} <span class="note">({_text(one.claim.by)})</span></td>'
        f"<td>{_text(one.finding.verdict)}</td>"
        f"<td>{_text(one.finding.answer)}</td></tr>"
        for one in accounts
    )
    head = "<tr><th>study</th><th>claim</th><th>verdict</th><th>answer</th></tr>"
    body = (
        f'<h1>What is said of attention, measured</h1><div class="wide"><table class="words">{head}{rows}</table></div>'
    )
    body += f"<pre>{_text(command)}</pre>" + "".join(section(one) + _setting(one) for one in accounts)
    page = folder / REPORT
    whole_bytes(page, page_of("What is said of attention, measured", body).encode())
    return page


def page_of(title: str, body: str) -> str:
    """A whole page; its body is HTML already."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body>{body}</body></html>\n"
    )


def section(account: Account) -> str:
    """The answer, and what it rests on."""
    claim, finding = account.claim, account.finding
    parts = [
        f'<h1 id="{_text(claim.name)}">{_text(claim.name)}</h1>',
        f'<p class="answer">{_text(finding.answer)}</p>',
        f'<p>The claim: “{_text(claim.said)}” ({_text(claim.by)}). <span class="verdict">'
        f"{_text(VERDICTS[finding.verdict])}</span></p>",
        *(f"<p>{_text(detail)}</p>" for detail in finding.details),
        *(_figure(chart) for chart in finding.charts),
        *(_table(table) for table in _tables(finding)),
        f"<h2>How it was measured</h2><p>{_text(account.method)}</p>",
    ]
    if finding.limits:
        parts.append("<h2>What it does not show</h2>" + "".join(f"<p>{_text(one)}</p>" for one in finding.limits))
    return "\n".join(parts)


def versions() -> list[tuple[str, str]]:
    """What a figure may depend on."""
    found = [("nungil", __version__), ("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            continue
    return [*found, ("machine", f"{platform.system()} {platform.machine()}, {counted(cores(), 'core')}")]


def _setting(account: Account) -> str:
    facts = "".join(f"<tr><td>{_text(name)}</td><td>{_text(value)}</td></tr>" for name, value in account.facts)
    about = ", ".join(f"{name} {version}" for name, version in versions())
    return (
        f"<table>{facts}</table><h2>To repeat it</h2><pre>{_text(account.command)}</pre>"
        f'<p class="note">{_text(about)}</p>'
    )


def _tables(finding: Finding) -> list[Table]:
    compared = [comparison_table(finding.comparisons)] if finding.comparisons else []
    return [*finding.tables, *compared]


def _figure(chart: Chart) -> str:
    picture = base64.b64encode(draw(chart, "svg")).decode("ascii")
    caption = f"{chart.title}. {chart.note}" if chart.note else f"{chart.title}."
    return (
        f'<figure><img alt="{_text(caption)}" src="data:image/svg+xml;base64,{picture}">'
        f"<figcaption>{_text(caption)} Files: {_text(chart.name)}.pdf, {_text(chart.name)}.png</figcaption></figure>"
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{_text(cell)}</th>" for cell in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f'<p class="note">{_text(table.note)}</p>' if table.note else ""
    return f'<h2>{_text(table.title)}</h2><div class="wide"><table><tr>{head}</tr>{rows}</table></div>{note}'


def _text(text: str) -> str:
    return html.escape(text, quote=True)
