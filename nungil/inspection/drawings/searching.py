"""What was written and what could have been, in the terminal: candidates, and the beam as a tree. No torch."""

from collections import defaultdict
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from nungil.inspection.beam import BeamTree
from nungil.inspection.layout import visible
from nungil.inspection.steps import Step

STYLES = {"kept": "", "pruned": "dim", "ended": "bold", "cut": "bold"}


def steps_table(steps: Sequence[Step]) -> Table:
    """A row for each token that was written: its probability, and the most probable tokens at its place."""
    table = Table(box=None, pad_edge=False, header_style="")
    table.add_column("written", justify="right")
    table.add_column("probability", justify="right")
    table.add_column("most probable there")
    for step in steps:
        named = (f"{visible(one.token)} {one.probability:.3f}" for one in step.candidates)
        table.add_row(Text(visible(step.token)), f"{step.probability:.4f}", Text("  ".join(named)))
    return table


def beam_tree(tree: BeamTree) -> Tree:
    """Each token below the one it follows, with its log-probability and what became of it."""
    top = Tree(Text(f"beam of {tree.width}: log-probability of each token; «…» is the translation"))
    best = set(tree.path(tree.best)) if tree.best is not None else set()
    children: dict[int | None, list[int]] = defaultdict(list)
    for place, node in enumerate(tree.nodes):
        children[node.parent].append(place)
    open_: list[tuple[Tree, int | None]] = [(top, None)]
    while open_:
        branch, parent = open_.pop()
        for place in sorted(children[parent], key=lambda one: -tree.nodes[one].log_probability):
            open_.append((branch.add(_label(tree, place, place in best)), place))
    return top


def _label(tree: BeamTree, place: int, chosen: bool) -> Text:
    node = tree.nodes[place]
    token = f"«{visible(node.token)}»" if chosen else visible(node.token)
    fate = "" if node.fate == "kept" else f" {node.fate}"
    score = "" if node.score is None else f", score {node.score:.3f}"
    return Text(f"{token} {node.log_probability:.3f}{fate}{score}", style=STYLES[node.fate])
