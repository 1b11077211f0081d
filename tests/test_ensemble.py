"""Several translators that search as one: the mean of their probabilities, step by step."""

import json

import pytest
import torch
from command import invoke
from model_folders import ENGLISH, KOREAN, LUONG, TRANSFORMER, change_config, classifier_folder, translator_folder
from small_models import TRANSLATORS, B, recurrent, source_batch, transformer

import nungil
from nungil.decoding.joint import Joint
from nungil.decoding.native import Native
from nungil.decoding.settings import SearchSettings
from nungil.errors import UsageError
from nungil.inspection.recorder import Recorder
from nungil.text.tokenizers.base import EOS, PAD, SOS

LINES = ["I like snow", "", "We saw a ship", "The child ate a pear", "snow"]


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(5)


@pytest.fixture
def models():
    """Of different kinds: all they need to have in common is what their numbers stand for."""
    return [transformer().eval(), recurrent(decoder="bahdanau").eval(), transformer().eval()]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    torch.manual_seed(1)
    place = tmp_path_factory.mktemp("models")
    return [translator_folder(place / str(number), model) for number, model in enumerate((LUONG, TRANSFORMER, LUONG))]


def sentences():
    source, keep = source_batch()
    return [row[real].tolist() for row, real in zip(source, keep, strict=True)]


def mean_of(models, ids, written):
    """The mean of their probabilities for each step of a translation, recomputed from its beginning."""
    source, put_in = torch.tensor([ids]), torch.tensor([[SOS, *written[:-1]]])
    with torch.inference_mode():
        shares = [
            model.logits(model(source, torch.ones_like(source, dtype=torch.bool), put_in).features).softmax(dim=-1)
            for model in models
        ]
    return torch.stack(shares).mean(dim=0)[0]


@pytest.mark.parametrize("beam", [1, 4])
def test_what_is_found_has_the_mean_of_their_probabilities(models, beam):
    sources, settings = sentences(), SearchSettings(beam=beam, n_best=beam)
    for ids, several in zip(sources, Native(*models).search(sources, [5] * B, settings), strict=True):
        for found in several:
            written = [*found.ids, EOS][: found.length]
            expected = mean_of(models, ids, written)[range(len(written)), written].log()
            assert found.log_probabilities == pytest.approx(expected.tolist(), abs=1e-9)


def test_at_every_step_the_most_probable_by_the_mean_is_taken(models):
    sources = sentences()
    together = Native(*models).search(sources, [5] * B, SearchSettings(beam=1))
    for ids, (found,) in zip(sources, together, strict=True):
        written = [*found.ids, EOS][: found.length]
        allowed = mean_of(models, ids, written).index_fill(1, torch.tensor([PAD, SOS]), 0.0)
        assert allowed.argmax(dim=-1).tolist() == written


@pytest.mark.parametrize("beam", [1, 3])
def test_twice_the_same_is_as_if_alone_and_the_order_does_not_matter(models, beam):
    sources, settings = sentences(), SearchSettings(beam=beam)
    alone = Native(models[0]).search(sources, [4, 6, 5], settings)
    twice = Native(models[0], models[0]).search(sources, [4, 6, 5], settings)
    one_way, other_way = (Native(*given).search(sources, [4, 6, 5], settings) for given in (models, models[::-1]))
    for these, those in ((alone, twice), (one_way, other_way)):
        for (this,), (that,) in zip(these, those, strict=True):
            assert (this.ids, this.finished) == (that.ids, that.finished)
            assert this.score == pytest.approx(that.score, abs=1e-9)
    assert [one.score for (one,) in one_way] != pytest.approx([one.score for (one,) in alone], abs=1e-3)


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_products_of_all_of_them_may_be_short(models, precision):
    sources, models = sentences(), [model.float() for model in models]
    full, short = (
        Native(*models).search(sources, [5] * B, SearchSettings(beam=1, shortest=5, precision=kind))
        for kind in ("fp32", precision)
    )
    for (in_full,), (in_short,) in zip(full, short, strict=True):
        assert in_short.score == pytest.approx(in_full.score, abs=0.1)
        assert in_short.score != in_full.score


def test_who_has_no_quick_way_is_short_too():
    slow, sources = TRANSLATORS["luong, local-m"]().float().eval(), sentences()
    full, short = (
        Native(slow, slow).search(sources, [5] * B, SearchSettings(beam=1, shortest=5, precision=kind))
        for kind in ("fp32", "bf16")
    )
    at_first, at_first_short = ([one.log_probabilities[0] for (one,) in found] for found in (full, short))
    assert at_first_short == pytest.approx(at_first, abs=0.1)
    assert at_first_short != pytest.approx(at_first, abs=1e-6)


def test_they_have_no_look_in_common(models):
    source, keep = source_batch()
    joint = Joint(models)
    with pytest.raises(UsageError, match="several models have no look in common; look at each of them by itself"):
        joint.start(source, keep, Recorder())
    with pytest.raises(UsageError, match="several models have no look in common"), torch.inference_mode():
        joint.step(torch.full((B,), SOS), joint.start(source, keep), Recorder())
    with pytest.raises(UsageError, match="a coverage penalty counts where one model looks; leave it out, or ask one"):
        Native(*models).search([[5, 6]], [4], SearchSettings(coverage_penalty=0.3))


def test_folders_that_are_loaded_together(folders):
    together = nungil.load(folders[0], others=folders[1:])
    alone = nungil.load(folders[0])
    found = together.translate(LINES)
    assert found == nungil.load(folders[0], others=map(str, folders[1:])).translate(LINES)
    assert found != nungil.load(folders[0], others=folders[1]).translate(LINES), "one of them is one, not its letters"
    assert [one.text for one in found] != [one.text for one in alone.translate(LINES)]
    assert found[1].text == ""
    members = [nungil.load(folder).model for folder in folders]
    ids = nungil.load(folders[0]).tokenizers.source.encode("I like snow")
    assert together.look("I like snow").target_tokens, "where the first of them looks"
    again = Native(*members).search([[SOS, *ids, EOS]], [9], SearchSettings())
    assert again[0][0].ids == together.engine.search([[SOS, *ids, EOS]], [9], SearchSettings())[0][0].ids


def test_the_commands(folders, tmp_path):
    (tmp_path / "article.txt").write_text("".join(f"{line}\n" for line in LINES))
    first, *others = map(str, folders)
    helped = [part for other in others for part in ("--with", other)]
    found = invoke("translate", first, str(tmp_path / "article.txt"), *helped)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split("\n")[:-1] == [one.text for one in nungil.load(first, others=others).translate(LINES)]
    (tmp_path / "test.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in zip(ENGLISH, KOREAN, strict=True)))
    data = ("--data", str(tmp_path / "test.tsv"), "--columns", "1,2")
    scored = invoke("score", first, *helped, *data, "--against", first, "--json")
    assert scored.returncode == 0, scored.stderr
    assert list(json.loads(scored.stdout)["scores"])[:2] == [" + ".join((first, *others)), first]


def test_models_that_cannot_work_together_are_refused(folders, tmp_path):
    other = translator_folder(tmp_path / "joint", LUONG, joint=True)
    labels = classifier_folder(tmp_path / "labels")
    marked = translator_folder(tmp_path / "marked", LUONG)
    change_config(marked, marks="eos")
    back = translator_folder(tmp_path / "back", LUONG)
    change_config(back, source="ko", target="en")
    for place, words in (
        (back, f"{back} translates from ko to en, but {folders[0]} from en to ko"),
        (folders[0], f"{folders[0]}: the same model is named twice"),
        (other, f"{other} has other tokenizers than {folders[0]}; models of an ensemble need the same ones"),
        (marked, f"{marked} has other tokenizers than {folders[0]}"),
        (labels, f"{labels} holds a classifier; only translators form an ensemble"),
    ):
        found = invoke("translate", str(folders[0]), "--with", str(place))
        assert found.returncode == 2
        assert words in found.stderr
    found = invoke("translate", str(labels), "--with", str(folders[0]))
    assert (found.returncode, f"{labels} holds a classifier" in found.stderr) == (2, True)
    found = invoke("translate", "nowhere", "--with", str(folders[0]), "--coverage-penalty", "0.2")
    assert (found.returncode, "a coverage penalty counts where one model looks" in found.stderr) == (2, True)
    found = invoke("translate", str(folders[1]), "--with", str(folders[0]), "--engine", "ctranslate2")
    assert (found.returncode, "CTranslate2 has one model at a time" in found.stderr) == (2, True)
    (tmp_path / "answers.txt").write_text("눈\n")
    answers = ("--hypotheses", str(tmp_path / "answers.txt"), "--references", str(tmp_path / "answers.txt"))
    found = invoke("score", *answers, "--with", str(folders[0]))
    assert (found.returncode, "is a file of answers, not a model" in found.stderr) == (2, True)
