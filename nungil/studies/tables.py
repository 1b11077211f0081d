"""The results as files for other programs: every figure of every run as CSV, the tables as LaTeX. No torch."""

import csv
import io
from collections.abc import Sequence

from nungil.studies.finding import Table
from nungil.studies.job import Record
from nungil.studies.statistics import Results

HEAD = ("study", "arm", "seed", "rate", "updates", "parameters", "figure", "value")
TEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        **{"~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\\": "\\textbackslash{}"},
        **{"−": "$-$", "±": "$\\pm$", "×": "$\\times$", "τ": "$\\tau$", "–": "--", "<": "$<$", ">": "$>$"},
    }
)
DANGER = "=+-@\t\r"  # what a spreadsheet would take for a formula at the beginning of a cell


def to_csv(study: str, records: Sequence[Record]) -> str:
    """A row for each figure of each run that counts."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for one in sorted((one for one in records if one.job.stage == "main"), key=lambda one: (one.job.arm, one.job.seed)):
        arm = f"'{one.job.arm}" if one.job.arm.startswith(tuple(DANGER)) else one.job.arm
        known = (study, arm, one.job.seed, one.job.rate or "", one.updates, one.parameters)
        found = Results([one])
        for name in (*one.tallies, *one.figures):
            writer.writerow((*known, name, f"{found.estimate(one.job.arm, name).mean:.6g}"))
        writer.writerow((*known, "training seconds", f"{one.seconds:.3f}"))
    return text.getvalue()


def to_tex(tables: Sequence[Table]) -> str:
    """Each as a `tabular` that needs no package."""
    return "\n".join(_tabular(table) for table in tables)


def _tabular(table: Table) -> str:
    lines = [f"% {' '.join(table.title.split())}", f"\\begin{{tabular}}{{l{'r' * (len(table.head) - 1)}}}", "\\hline"]
    lines += [" & ".join(cell.translate(TEX) for cell in table.head) + " \\\\", "\\hline"]
    lines += [" & ".join(cell.translate(TEX) for cell in row) + " \\\\" for row in table.rows]
    return "\n".join([*lines, "\\hline", "\\end{tabular}", ""])
