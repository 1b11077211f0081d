"""A ledger as Markdown, for a lesson, a bug report or a notebook."""

import re

from nungil.inspection.layout import Block, Column, lay_out, opening_of, title_of, verdict, visible
from nungil.inspection.ledger import Ledger
from nungil.inspection.words import Language, sentence


def to_markdown(ledger: Ledger, language: Language = "en", story: str = "") -> str:
    """The whole ledger: a heading, a table per block, and the verdict."""
    told = story or _escape(visible(opening_of(ledger)))
    parts = [f"## {_escape(title_of(ledger, language))}", told]
    parts += [_block(block, language, "####" if ledger.of_model else "###") for block in lay_out(ledger, language)]
    parts += ["  \n".join(_escape(line) for line in verdict(ledger, language))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, language: Language, level: str) -> str:
    title = f"### {_escape(block.title)}\n\n{_escape(block.story)}\n\n" if block.title else ""
    name = f"{level} {block.name}\n\n" if block.name else ""
    return title + name + (_table(block, language) if block.rows else _lines(block))


def _lines(block: Block) -> str:
    return "\n".join(f"- {column.heading} `{column.formula}` = {column.cells[0]}" for column in block.columns)


def _table(block: Block, language: Language) -> str:
    headings = [block.rows, *(f"{_escape(column.heading)}<br>`{_edge(column.formula)}`" for column in block.columns)]
    rows = [headings, ["---", *("---:" for _ in block.columns)]]
    for place, label in enumerate(block.labels):
        rows.append([_escape(label), *(column.cells[place] for column in block.columns)])
    if any(column.total for column in block.columns):
        rows.append([sentence("sum", language), *(_bold(column) for column in block.columns)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _bold(column: Column) -> str:
    return f"**{column.total.strip()}**" if column.total else ""


def _escape(text: str) -> str:
    """Tokens are text: neither a table's edge, nor HTML, nor emphasis or code."""
    marked = re.sub(r"([\\|*`\[\]])", r"\\\1", text)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _edge(formula: str) -> str:
    return formula.replace("|", "\\|")
