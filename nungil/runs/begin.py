"""The beginning of a run: read the data, work out what is open, say it, and write a folder that can be gone on from."""

import json
import math
import re
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from nungil.batches.batch import marked_lengths
from nungil.errors import ConfigError, UsageError, as_typed
from nungil.model.classifier import ClassifierSettings
from nungil.model.folder import MORE, ModelConfig, shapes_of, write_config, write_tokenizers
from nungil.model.scores import ScoreSettings
from nungil.model.vocabulary import Vocabulary
from nungil.runs.data import open_data
from nungil.runs.interrupt import ended_at_once
from nungil.runs.memory import refuse_too_large
from nungil.runs.plan import Plan, make_plan, refuse_other_task
from nungil.runs.prepare import LONGEST, Prepared, prepare
from nungil.runs.progress import Say, tensorboard_writer
from nungil.runs.recipe import Recipe
from nungil.runs.saved import save_prepared
from nungil.runs.start import START, open_start
from nungil.text.atomic import whole_file
from nungil.text.counts import counted

DATA = "data"
RECIPE = "recipe.json"
MARK_TOKENS = 2
# What a run leaves before it can be gone on from: in its folder, in that of the data, and there beside both stores.
TOKENIZERS = {f"{side}.{ending}" for side in ("tokenizer", "source", "target") for ending in ("spm", "json")}
BEGUN = {DATA, RECIPE, "config.json", *TOKENIZERS}
STORES = ("train", "valid")
SAVED = {"validation.jsonl", "test.jsonl", "prepared.json", START}
PART = re.compile(r"\.(.+)\.(?:\d+\.part|part-\d+)")  # of something that is not whole


def begin(recipe: Recipe, out: Path, say: Say, beside: Collection[str] = ()) -> None:
    """Make the folder of a new run; `beside` may stand in it already. If anything is refused, nothing is left of it."""
    refuse_existing(out, beside)
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    with ended_at_once("stopped while the data was read; nothing of this run is kept"):
        _claim(out)
        try:
            _read(recipe, out, say)
        except BaseException:
            _empty(out, beside)
            _remove(made)
            raise


def _read(recipe: Recipe, out: Path, say: Say) -> None:
    """Read the data into the folder, with all that a run goes on from."""
    start = open_start(recipe)
    recipe = start.taken_over(recipe) if start is not None else recipe
    opened = open_data(recipe.data)
    if start is not None:
        start.refuse_other_languages(opened)
    refuse_other_task(recipe, opened.task)  # before hours are spent on reading
    say("Reading the data and learning how to cut it into tokens …" if start is None else "Reading the data …")
    taken = start.taken if start is not None else None
    prepared = prepare(recipe.data, recipe.cleaning, recipe.tokenizer, out / DATA, recipe.seed, opened, taken)
    if start is not None:
        start.write_weights(out / DATA)
        prepared = replace(prepared, decisions=(*prepared.decisions, *start.known(prepared)))
    _write(recipe, prepared, out, say)


def refuse_existing(out: Path, beside: Collection[str] = ()) -> None:
    """A run never writes over anything."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: this is a file; --out takes a folder")
    if out.is_symlink() and not out.exists():
        raise UsageError(f"{out}: is a link to {out.readlink()}, which is not there; choose another --out")
    if not out.is_dir() or all(path.name in beside for path in out.iterdir()):
        return
    if (out / RECIPE).exists():
        raise UsageError(
            f"{out}: holds a model already, and training never writes over anything; choose another --out, "
            f"or go on with it: nungil resume {as_typed(out)}"
        )
    if _only_begun(out):
        raise UsageError(
            f"{out}: another run is reading its data into it, or was stopped while it read its data, too early to be "
            "gone on with; choose another --out, or, if no run is under way there, delete it"
        )
    what = "holds a model already" if (out / "config.json").exists() else "is not empty"
    raise UsageError(f"{out}: {what}, and training never writes over anything; choose another --out")


def _only_begun(out: Path) -> bool:
    """Whether a folder holds nothing but what a run leaves that is too early to be gone on with: nothing of a user."""
    data = out / DATA
    if not data.is_dir() or not _holds_only(out, BEGUN):
        return False
    stores = {name for name in STORES if (data / name / "store.json").is_file()}
    whole = all(name in stores for name in STORES if (data / name).exists())
    return whole and _holds_only(data, {*STORES, *(SAVED if "train" in stores else ())})


def _holds_only(folder: Path, names: Collection[str]) -> bool:
    return all(PART.sub(r"\1", path.name) in names for path in folder.iterdir())


def _claim(out: Path) -> None:
    """Make the folder of the data before any is read: of two runs that begin at once in one place, one is refused.

    A run that fails later empties its folder, which must never be that of another run.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / DATA).mkdir()
    except FileExistsError:
        raise UsageError(f"{out}: another run has just begun in it; choose another --out") from None
    except OSError as error:
        raise UsageError(f"{out}: the folder cannot be made: {error.strerror}") from None


def _write(recipe: Recipe, prepared: Prepared, folder: Path, say: Say) -> None:
    plan = _plan(recipe, prepared)
    config = _config(recipe, prepared, plan, write_tokenizers(folder, prepared.tokenizers))
    _refuse_small_batches(plan.training.batch_tokens or 1, prepared, config)
    refuse_too_large(config, plan.training.processes)
    if plan.training.tensorboard:
        tensorboard_writer()
    parameters = sum(map(math.prod, shapes_of(config).values()))
    about = _about_model(config, parameters)
    if recipe.start_from is not None:
        about = f"It starts from the weights and tokenizers of {recipe.start_from}. {about}"
    decisions = (*prepared.decisions, about, *plan.decisions)
    for decision in decisions:
        say(decision)
    save_prepared(replace(prepared, decisions=decisions), folder / DATA)
    write_config(folder, config)
    settled = recipe.model_copy(update={"model": plan.model, "training": plan.training})
    write_recipe(folder, settled)  # last: a folder with a recipe can be gone on from


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """Keep what a run is to do."""
    with whole_file(folder / RECIPE) as file:
        file.write(json.dumps(recipe.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n")


def _empty(folder: Path, beside: Collection[str]) -> None:
    for path in folder.iterdir():
        if path.name in beside:
            continue
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _remove(folders: Sequence[Path]) -> None:
    """Remove folders, the innermost first, as long as nobody has put anything into them."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _plan(recipe: Recipe, prepared: Prepared) -> Plan:
    longest = recipe.data.longest or LONGEST[prepared.task]
    sides = [column.lengths() for name, column in prepared.train.columns.items() if name != "label"]
    positions = sum(int(side.sum()) + MARK_TOKENS * len(side) for side in sides) // len(sides)
    plan = make_plan(recipe, prepared, positions, longest + MARK_TOKENS)
    score = getattr(plan.model, "score", None)
    if isinstance(score, ScoreSettings) and score.name == "location" and score.longest < longest + MARK_TOKENS:
        raise ConfigError(
            "recipe",
            [f"[model.score] longest: {score.longest} positions are too few for {longest} tokens and two marks"],
        )
    return plan


def _refuse_small_batches(batch_tokens: int, prepared: Prepared, config: ModelConfig) -> None:
    columns = prepared.train.columns
    longest = int(marked_lengths(columns["source"].lengths(), config.marks).max())
    if "target" in columns:
        longest = max(longest, int(columns["target"].lengths().max()) + 1)
    if batch_tokens < longest:
        raise ConfigError(
            "recipe",
            [
                f"[training] batch_tokens: {batch_tokens:,} is too few: the longest sentence has {longest:,} tokens, "
                "marks included; allow more, or leave long ones out (--set data.longest=…)"
            ],
        )


def _config(recipe: Recipe, prepared: Prepared, plan: Plan, files: dict[str, str]) -> ModelConfig:
    tokenizers = prepared.tokenizers
    joint = tokenizers.joint and prepared.task == "translate"
    return ModelConfig(
        task=prepared.task,
        source=prepared.languages.source,
        target=prepared.languages.target,
        marks=recipe.marks or ("none" if isinstance(plan.model, ClassifierSettings) else "both"),
        longest=recipe.data.longest or LONGEST[prepared.task],
        stretch=_stretch(prepared),
        vocabulary=Vocabulary(source=tokenizers.source.size, target=tokenizers.target.size, joint=joint),
        labels=prepared.labels,
        tokenizer=recipe.tokenizer,
        files=files,
        model=plan.model,
    )


def _stretch(prepared: Prepared) -> float:
    """How much longer than a source a target may be: a quarter more than nearly all targets of the training set are.

    What `MORE` allows for is left out: else a heading of one word that became nine would let every text grow ninefold.
    """
    if prepared.task == "classify":
        return 1.0
    source, target = (prepared.train.columns[name].lengths() for name in ("source", "target"))
    return round(max(1.5, 1.25 * float(np.quantile((target - MORE) / source, 0.999))), 2)


def _about_model(config: ModelConfig, parameters: int) -> str:
    model = config.model
    if isinstance(model, ClassifierSettings):
        what = f"classifier, {model.encoder} encoder of width {model.width}, {model.pooling} pooling"
        if model.ngrams is not None:
            what += f", beside it a reader of n-grams of up to {counted(model.ngrams.longest, 'token')}"
    elif model.kind == "recurrent":
        attention = "no attention" if model.decoder == "plain" else f"{model.decoder} attention ({model.score.name})"
        what = f"{model.cell.upper()} encoder-decoder of width {model.width}, {attention}"
    else:
        what = f"Transformer of width {model.width}, {model.encoder_layers} + {model.decoder_layers} layers"
    return f"Model: {what}, dropout {model.dropout:g}; {parameters:,} parameters."
