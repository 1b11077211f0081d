"""`nungil demo`: from a corpus to attention maps in two minutes."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nungil.cli.talk import page, say, write
from nungil.errors import UsageError, as_typed

if TYPE_CHECKING:
    from nungil.runs.demo import Demo


# All that a demo writes into its folder.
LEFT = {
    *("README.md", "config.json", "look.html", "metrics.jsonl", "model.safetensors", "recipe.json", "result.json"),
    *("source.json", "target.json", "checkpoints", "data", "snow"),
}


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The new model folder.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the corpus and the model.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in that folder.")] = False,
) -> None:
    """Make the embedded corpus, train a translator with attention, translate, score, and draw where it looks.

    \b
    nungil demo
    nungil demo --out runs/second --seed 2
    """
    _make_room(out, overwrite)
    from nungil.inspection.drawings.heatmap import print_map
    from nungil.runs.demo import SENTENCES
    from nungil.runs.demo import demo as run
    from nungil.runs.progress import to_stderr

    found = run(out, seed, to_stderr)
    write(_scores(found))
    console = page()
    with console.capture() as drawn:
        print_map(found.record, console)
    write(f"\nWhere it looked while it wrote «{found.translations[0].text}»:\n")
    write(drawn.get().rstrip("\n"))
    say(f"\nThe same as a page: {found.page}\nThe model's card: {out / 'README.md'}")
    say(
        f"Next: nungil look {as_typed(out)} '{SENTENCES[1]}'\n"
        f"      echo 'I like apples' | nungil translate {as_typed(out)}\n"
        f"      nungil explain {as_typed(out)} '{SENTENCES[0]}' --step 2"
    )


def _make_room(out: Path, overwrite: bool) -> None:
    """Remove an earlier demo, but only if the folder holds nothing else."""
    if not (out / "snow" / "train.tsv").exists() or any(path.name not in LEFT for path in out.iterdir()):
        return  # training refuses it, unless it is empty
    if not overwrite:
        whole = (out / "model.safetensors").exists()
        look = f"look at it (nungil look {as_typed(out)} 'I like snow'), or " if whole else ""
        raise UsageError(f"{out}: there is a demo already; {look}replace it with --overwrite")
    for path in out.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _scores(found: "Demo") -> str:
    test = found.run.test.scores if found.run.test is not None else {}
    lines = [
        f"On sentences it has never seen: BLEU {test['bleu']:.1f}, chrF {test['chrf']:.1f}.",
        f"Alignment error of its attention: {100 * found.alignment['output'].aer:.1f}% read as the word being written, "
        f"{100 * found.alignment['input'].aer:.1f}% as the word just put in (links along the diagonal: "
        f"{100 * found.diagonal.aer:.1f}%).",
        "",
    ]
    lines += [f"  {translation.source} → {translation.text}" for translation in found.translations]
    return "\n".join(lines)
