"""The model card, README.md of a model folder: what it is, how good, made from what, and its limits."""

from nungil import __version__
from nungil.errors import as_typed
from nungil.model.folder import ModelConfig
from nungil.runs.prepare import Prepared
from nungil.runs.progress import spell_time
from nungil.runs.result import Run
from nungil.runs.work import Validation
from nungil.scoring.translation import ENOUGH, RUN, too_short_for_bleu
from nungil.text.atomic import whole_file
from nungil.text.counts import counted

# What a BLEU score means, in words common in the translation industry; each holds below its score.
WORTH = (
    (10.0, "almost useless: most sentences are wrong"),
    (20.0, "hard to get the gist of; not fit to be read by others"),
    (
        30.0,
        "the gist is clear, but there are significant mistakes; every sentence needs a reader who knows both languages",
    ),
    (40.0, "understandable; good enough to work from, not to publish unread"),
    (50.0, "good translations"),
    (101.0, "very good translations, on sentences like those it was trained on"),
)


def write_card(run: Run, prepared: Prepared, decisions: tuple[str, ...], parameters: int) -> None:
    """Write README.md."""
    parts = [
        f"# {title(run.config)}",
        _about(run, parameters),
        "## How good it is",
        _scores(run, prepared),
        verdict(run, prepared),
        "## How to use it",
        _usage(run),
        "## What it was made from",
        "\n".join(f"- {decision}" for decision in decisions),
        "## Limits",
        _limits(run, prepared),
    ]
    with whole_file(run.folder / "README.md") as file:
        file.write("\n\n".join(parts) + "\n")


def title(config: ModelConfig) -> str:
    """What the model is, in a few words."""
    if config.task == "classify":
        return f"A classifier of texts: {', '.join(config.labels[:5])}{' …' if len(config.labels) > 5 else ''}"
    sides = [tag or "?" for tag in (config.source, config.target)]
    return f"A translator from {sides[0]} to {sides[1]}"


def verdict(run: Run, prepared: Prepared) -> str:
    """A sentence on whether it is good enough to use."""
    scored, name = (run.test, "test") if run.test is not None else (run.validation, "validation")
    records = prepared.test_records or prepared.valid_records
    if len(records) < ENOUGH:
        texts = counted(len(records), "text")
        return f"No verdict: its {name} set has {texts}, and fewer than {ENOUGH} are too few to judge a model by."
    if run.config.task == "translate":
        bleu, chrf = scored.scores["bleu"], scored.scores["chrf"]
        references = [str(record[1]) for record in records]
        if too_short_for_bleu(references, run.config.target):
            short = f"hardly any text of its {name} set has the {RUN} words that BLEU needs"
            return f"In words: {short}; use chrF, {chrf:.1f}."
        worth = next(words for limit, words in WORTH if bleu < limit)
        return f"In words: with BLEU {bleu:.1f} on its {name} set, {worth}."
    labels = [record[1] for record in records]
    commonest = max(set(labels), key=lambda label: (labels.count(label), label))
    share = 100 * labels.count(commonest) / len(labels)
    accuracy = scored.scores["accuracy"]
    gain = "no better than" if accuracy <= share + 1 else "better than"
    return (
        f"In words: it is right for {accuracy:.1f}% of the {name} set, {gain} always saying "
        f"`{commonest}`, which is right for {share:.1f}%."
    )


def _about(run: Run, parameters: int) -> str:
    config = run.config
    return (
        f"Made by nungil {__version__}: kind `{config.model.kind}`, {parameters:,} parameters, "
        f"{counted(run.updates, 'update')} "
        f"in {spell_time(run.seconds)}. The exact settings are in `config.json` and `recipe.json`."
    )


def _scores(run: Run, prepared: Prepared) -> str:
    rows = [("validation", run.validation, len(prepared.valid_records))]
    if run.test is not None:
        rows.append(("test", run.test, len(prepared.test_records)))
    names = [name for name in run.validation.scores if name != "loss"]
    lines = ["| set | records | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for name, found, count in rows:
        lines.append(f"| {name} | {count:,} | " + " | ".join(f"{found.scores[score]:.2f}" for score in names) + " |")
    lines += _signatures(run.validation)
    if run.test is None:
        lines += ["", "The model was chosen by its score on the validation set, so that score is somewhat too good."]
    return "\n".join(lines)


def _signatures(found: Validation) -> list[str]:
    return (
        ["", *(f"- {name}: `{signature}`" for name, signature in found.signatures.items())] if found.signatures else []
    )


def _usage(run: Run) -> str:
    verb = "translate" if run.config.task == "translate" else "classify"
    text = "I like snow" if run.config.source == "en" else "…"
    look = f"nungil look {as_typed(run.folder)} '{text}'\n" if run.config.attends else ""
    return (
        f"```sh\necho '{text}' | nungil {verb} {as_typed(run.folder)}\n{look}```\n\n"
        f"```py\nimport nungil\n\nmodel = nungil.load({str(run.folder)!r})\nmodel.{verb}([{text!r}])\n```"
    )


def _limits(run: Run, prepared: Prepared) -> str:
    lines = [
        f"- It was trained on {counted(prepared.train.rows, 'record')}. On text of another kind it does worse than the "
        "scores above.",
        f"- It reads the first {run.config.longest:,} tokens of a text; the rest is left out, with a note.",
        "- Nothing shows when it is wrong. Attention weights show where it looked, not why it decided.",
    ]
    if len(prepared.valid_records) < 200:
        lines.append("- Its validation set is small, so the scores may be several points off.")
    return "\n".join(lines)
