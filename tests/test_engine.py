"""CTranslate2 as the searcher: the same translations and scores as ours, and a sentence for what it cannot do."""

import json
import math
import random
import sys
from functools import cache
from types import SimpleNamespace

import pytest
import torch
from command import invoke
from model_folders import CLASSIFIER, LUONG, TRANSFORMER, classifier_folder, translator_folder
from safetensors.torch import load_file
from small_models import SOURCE, transformer, weights_of

import nungil
from nungil.cli import texts
from nungil.decoding.native import Native, even_rows
from nungil.decoding.settings import SearchSettings
from nungil.engines import CTranslate2
from nungil.engines.ctranslate2 import positions_of
from nungil.errors import ConfigError, ResourceError, UsageError
from nungil.model.folder import write_weights
from nungil.pipeline import Translator, load
from nungil.text.tokenizers.base import EOS, PAD, SOS

GREEDY = SearchSettings(beam=1)
LINES = ["I like snow", "", "We saw a ship", "The child ate a pear", "snow"]


def ending(model):
    """A model that is as one that was trained: it reads its source, writes no padding, and some sentences end."""
    model = model.float()
    sources, longest = sources_and_limits()
    low, high = -16.0, 16.0
    with torch.no_grad():
        for block in model.blocks:
            block.cross.output.weight *= 6
        model.output.bias[[PAD, SOS]] = -40.0
        for _ in range(12):
            model.output.bias[EOS] = (low + high) / 2
            ends = sum(found.finished for (found,) in Native(model).search(sources, longest, GREEDY))
            if 8 <= ends <= 32:
                return model
            low, high = ((low + high) / 2, high) if ends < 8 else (low, (low + high) / 2)
    raise AssertionError("it ends always or never")


def sources_and_limits(count=40, vocabulary=SOURCE):
    drawn = random.Random(5)
    sources = [[drawn.randrange(4, vocabulary) for _ in range(drawn.randrange(1, 12))] for _ in range(count)]
    return sources, [drawn.randrange(1, 17) for _ in sources]


KINDS = {
    "pre-norm, two vocabularies": {},
    "post-norm, nothing tied": {"norm": "post", "tie": "none"},
    "joint, all tied, no positions": {"joint": True, "positions": "none"},
    "joint, target tied, four heads": {"joint": True, "tie": "target", "width": 12, "heads": 4, "feed_forward": 9},
    "odd width, one head": {"width": 7, "heads": 1, "encoder_layers": 1, "decoder_layers": 2},
}


@cache
def made(kind):
    torch.manual_seed(7)
    return ending(transformer(**KINDS[kind]))


@pytest.fixture(params=KINDS)
def model(request):
    return made(request.param)


def test_greedy_search_writes_the_same_with_the_same_log_probabilities(model):
    sources, longest = sources_and_limits()
    ours = Native(model).search(sources, longest, GREEDY)
    theirs = CTranslate2(model, probabilities=True).search(sources, longest, GREEDY)
    for (found,), (expected,) in zip(theirs, ours, strict=True):
        assert (found.ids, found.finished) == (expected.ids, expected.finished)
        assert found.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-4)
        assert found.score == pytest.approx(expected.score, abs=1e-4)


def test_without_probabilities_the_whole_sentence_has_its_score(model):
    sources, longest = sources_and_limits()
    ours = Native(model).search(sources, longest, GREEDY)
    theirs = CTranslate2(model).search(sources, longest, GREEDY)
    for (found,), (expected,) in zip(theirs, ours, strict=True):
        assert (found.ids, found.finished, found.log_probabilities) == (expected.ids, expected.finished, [])
        if expected.finished:
            assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
            assert found.score == pytest.approx(expected.score, abs=1e-4)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_a_beam_finds_what_ours_finds_or_better_by_our_own_penalty(model, alpha):
    sources, _ = sources_and_limits()
    longest = [25] * len(sources)
    settings = SearchSettings(beam=4, length_penalty=alpha)
    ours = Native(model).search(sources, longest, settings)
    theirs = CTranslate2(model).search(sources, longest, settings)
    same = 0
    for (found,), (expected,) in zip(theirs, ours, strict=True):
        length = len(found.ids) + found.finished
        assert found.score == pytest.approx(found.log_probability / ((5 + length) / 6) ** alpha, abs=1e-9)
        if expected.finished:
            assert found.finished
            assert found.score >= expected.score - 1e-4
        same += found.ids == expected.ids
    assert same >= 0.9 * len(sources)


def test_several_are_all_different_and_the_best_first(model):
    sources, longest = sources_and_limits()
    for probabilities in (False, True):
        engine = CTranslate2(model, probabilities=probabilities)
        for found in engine.search(sources, longest, SearchSettings(beam=5, n_best=3)):
            assert 1 <= len(found) <= 3
            assert len({(tuple(one.ids), one.finished) for one in found}) == len(found)
            assert found == sorted(found, key=lambda one: (not one.finished, -one.score))


@pytest.mark.parametrize("chosen", [{"shortest": 6}, {"no_repeat": 2}, {"no_repeat": 1, "shortest": 3}], ids=str)
def test_constraints_hold_as_in_our_own_search(model, chosen):
    sources, _ = sources_and_limits()
    longest, settings = [9] * len(sources), SearchSettings(beam=1, **chosen)
    ours = Native(model).search(sources, longest, settings)
    theirs = CTranslate2(model, probabilities=True).search(sources, longest, settings)
    for (found,), (expected,) in zip(theirs, ours, strict=True):
        assert (found.ids, found.finished) == (expected.ids, expected.finished)
        assert found.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-4)


def test_padding_and_start_are_never_written_and_their_share_goes_to_the_others():
    model = transformer().float()
    with torch.no_grad():
        model.output.bias[[PAD, SOS]] = 2.0
    sources, longest = sources_and_limits()
    ours = Native(model).search(sources, longest, GREEDY)
    theirs = CTranslate2(model, probabilities=True).search(sources, longest, GREEDY)
    for source, (found,), (expected,) in zip(sources, theirs, ours, strict=True):
        assert found.ids == expected.ids
        with torch.inference_mode():
            keep = torch.ones(1, len(source), dtype=torch.bool)
            decoded = model(torch.tensor([source]), keep, torch.tensor([[SOS, *found.ids]]))
            share = model.logits(decoded.features).softmax(dim=-1)[0, :, [PAD, SOS]].sum(dim=-1)
        for paid, honest, taken in zip(found.log_probabilities, expected.log_probabilities, share, strict=False):
            assert paid == pytest.approx(honest - math.log(1 - float(taken)), abs=1e-4)


def test_int8_is_close_and_leaves_our_weights_alone():
    model = ending(transformer(width=48, heads=4, feed_forward=96))
    before = {name: value.clone() for name, value in weights_of(model).items()}
    engine = CTranslate2(model, compute="int8", probabilities=True)
    assert all(torch.equal(value, before[name]) for name, value in weights_of(model).items())
    sources, longest = sources_and_limits()
    exact = CTranslate2(model, probabilities=True).search(sources, longest, GREEDY)
    differences = [
        abs(found.log_probabilities[0] - expected.log_probabilities[0])
        for (found,), (expected,) in zip(engine.search(sources, longest, GREEDY), exact, strict=True)
        if found.ids[:1] == expected.ids[:1]
    ]
    assert len(differences) > 30
    assert 0 < max(differences) < 0.5


@pytest.fixture
def several_threads():
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(1)


@pytest.mark.usefixtures("several_threads")
def test_torch_keeps_its_threads_and_the_next_engine_has_as_many():
    for _ in range(2):
        engine = CTranslate2(transformer())
        assert (engine.threads, torch.get_num_threads()) == (3, 3)
    engine.search([[5], [6]], [3, 4], GREEDY)
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("several_threads")
def test_answers_come_in_the_order_of_the_sentences_whatever_the_threads():
    model = made("post-norm, nothing tied")
    sources, longest = sources_and_limits(700)
    found = []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        found.append([one.ids for (one,) in CTranslate2(model).search(sources, longest, GREEDY)])
    assert found[0] == found[1] == [one.ids for (one,) in Native(model).search(sources, longest, GREEDY)]
    assert CTranslate2(model).search([], [], GREEDY) == []


@pytest.mark.parametrize(
    ("count", "most", "threads", "rows"),
    [(1000, 320, 2, 250), (1000, 64, 3, 56), (5, 320, 2, 3), (1, 320, 4, 1), (0, 9, 2, 1)],
)
def test_every_thread_has_as_many_batches(count, most, threads, rows):
    assert even_rows(count, most, threads) == rows
    assert rows <= most
    assert count < threads or math.ceil(count / rows) % threads == 0


def test_what_it_cannot_do_is_named_at_once():
    engine = CTranslate2(transformer(), positions=20)
    with pytest.raises(ConfigError) as caught:
        engine.search([[5]], [7], SearchSettings(coverage_penalty=0.2, exhaustive=True))
    assert str(caught.value) == (
        "not with CTranslate2, but with nungil's own search (without engine):\n"
        "- coverage_penalty: it counts attention, and attention always comes from nungil's own search\n"
        "- exhaustive: CTranslate2 stops when as many translations have ended as the beam is wide"
    )
    with pytest.raises(ConfigError, match="- sample: what CTranslate2 draws depends on which thread draws first"):
        engine.search([[5]], [7], SearchSettings(sample=True))
    with pytest.raises(UsageError, match="CTranslate2 begins no translation with given tokens"):
        engine.search([[5]], [7], GREEDY, [[6]])
    with pytest.raises(UsageError, match="a sentence of 21 tokens, its end included, is too long for CTranslate2"):
        engine.search([[5]], [20], GREEDY)
    with pytest.raises(UsageError, match="a sentence of 22 tokens"):
        engine.search([[5] * 22], [7], GREEDY)


def test_a_full_disk_is_a_sentence(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nungil.engines.ctranslate2.save", full)
    with pytest.raises(ResourceError, match="the model could not be converted: No space left on device"):
        CTranslate2(transformer())


def test_the_longest_that_a_model_answers_has_its_positions(tmp_path):
    config = load(translator_folder(tmp_path / "model", TRANSFORMER, longest=1_000, stretch=3.0)).config
    assert positions_of(config) == 3 * 1_002 + 21
    assert positions_of(config.model_copy(update={"longest": 30})) == 1_024
    assert positions_of(config.model_copy(update={"longest": 10**6})) == 16_384


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    written = translator_folder(tmp_path_factory.mktemp("model") / "transformer", TRANSFORMER, joint=True)
    weights = load_file(written / "model.safetensors")
    weights["output.bias"][[PAD, SOS]] = -40.0  # as in a trained model; CTranslate2 gives them no chance at all
    weights["output.bias"][EOS] += 1.5  # sentences end
    write_weights(written, weights)
    return written


def test_load_gives_the_same_translator_with_another_engine(folder):
    ours, theirs = nungil.load(folder), nungil.load(folder, engine="ctranslate2", probabilities=True)
    for found, expected in zip(theirs.translate(LINES, beam=1), ours.translate(LINES, beam=1), strict=True):
        assert found._replace(score=0, probabilities=()) == expected._replace(score=0, probabilities=())
        assert len(found.probabilities) == len(expected.probabilities)
    assert nungil.load(folder, engine="ctranslate2").translate("I like snow")[0].probabilities == ()
    text = "I like snow. We saw a ship."
    (joined,), parts = theirs.translate(text), theirs.translate(["I like snow.", "We saw a ship."])
    logs = [math.log(one) for part in parts for one in part.probabilities]
    assert joined.score == pytest.approx(sum(logs) / len(logs), abs=1e-6)


def test_greedy_search_can_do_without_scores(folder):
    asked = []
    model = nungil.load(folder, engine="ctranslate2")
    translate = model.engine._translator.translate_batch
    model.engine._translator = SimpleNamespace(
        translate_batch=lambda *given, **options: asked.append(options["return_scores"]) or translate(*given, **options)
    )
    told, untold = (model.translate(LINES, beam=1, scores=scores) for scores in (True, False))
    assert set(asked[: len(asked) // 2]) == {True}
    assert set(asked[len(asked) // 2 :]) == {False}
    for found, expected in zip(untold, told, strict=True):
        assert found._replace(score=0) == expected._replace(score=0)
        assert found.score is None and expected.score < 0 if found.source else found.score == expected.score == 0
    told, untold = (model.translate(LINES, beam=3, scores=scores) for scores in (True, False))
    assert untold == told, "a beam cannot rank without them"
    assert asked[-1] is True


def test_attention_comes_from_our_own_engine(folder):
    theirs = nungil.load(folder, engine="ctranslate2")
    (linked,) = theirs.translate("The child ate a pear", align=True)
    assert len(linked.links.split()) == len(linked.text.split())
    looked = theirs.look("I like snow", target="눈이 내렸다")
    assert looked.weights.tolist() == nungil.load(folder).look("I like snow", target="눈이 내렸다").weights.tolist()


def test_it_is_chosen_by_a_flag(folder, tmp_path):
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES))
    asked = ["translate", str(folder), str(tmp_path / "in.txt"), "--beam", "1"]
    ours = invoke(*asked)
    theirs = invoke(*asked, "--engine", "ctranslate2")
    assert (theirs.returncode, theirs.stdout) == (0, ours.stdout), theirs.stderr
    scored = [invoke(*asked, *engine, "--scores").stdout.splitlines() for engine in ([], ["--engine", "ctranslate2"])]
    for mine, other in zip(*scored, strict=True):
        assert [*map(float, other.split("\t")[1:])] == pytest.approx([*map(float, mine.split("\t")[1:])], abs=2e-4)
    found = invoke(*asked, "--engine", "ctranslate2", "--compute", "int8", "--json")
    objects = [json.loads(line) for line in found.stdout.splitlines()]
    assert [one["source"] for one in objects] == LINES
    assert all(len(one["probabilities"]) == len(one["tokens"]) + one["finished"] for one in objects if one["source"])


def test_what_one_engine_began_another_does_not_finish(folder, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("I like snow\nWe saw a ship\n")
    monkeypatch.setattr(texts, "CHUNK", 1)
    asked = ["translate", str(folder), str(tmp_path / "in.txt"), "--out", str(tmp_path / "out")]
    translate, calls = Translator.translate, iter(range(9))

    def stopped(self, *given, **options):
        if next(calls) == 1:
            raise KeyboardInterrupt
        return translate(self, *given, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Translator, "translate", stopped)
        assert invoke(*asked, "--engine", "ctranslate2", "--compute", "int8").returncode == 130
    for other in ([], ["--engine", "ctranslate2"]):
        found = invoke(*asked, *other)
        assert found.returncode == 2
        assert "left by another command" in found.stderr
    found = invoke(*asked, "--engine", "ctranslate2", "--compute", "int8")
    assert found.returncode == 0
    assert "Continuing after line 1." in found.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--compute", "int8"], "compute int8: only with engine ctranslate2; nungil's own search has float32"),
        (["--engine", "ctranslate2", "--compute", "int9"], "compute: there is no 'int9'; did you mean int8?"),
        (
            ["--engine", "ctranslate2", "--coverage-penalty", "0.2"],
            "not with CTranslate2, but with nungil's own search (without engine):\n"
            "- coverage_penalty: it counts attention, and attention always comes from nungil's own search",
        ),
    ],
    ids=["no engine", "misspelt", "coverage"],
)
def test_mistakes_are_named_before_the_model_is_read(tmp_path, options, said):
    found = invoke("translate", str(tmp_path / "nothing"), *options)
    assert (found.returncode, found.stderr) == (2, f"nungil: {said}\n")


def test_a_processor_that_cannot_says_what_it_can(tmp_path, monkeypatch):
    monkeypatch.setattr("ctranslate2.get_supported_compute_types", lambda _: {"int8", "float32"})
    found = invoke("translate", str(tmp_path), "--engine", "ctranslate2", "--compute", "bfloat16")
    assert found.returncode == 2
    assert found.stderr == (
        "nungil: compute bfloat16: CTranslate2 cannot do that on this processor; it can do float32, int8\n"
    )


def test_a_model_that_it_cannot_run_is_named_with_what_to_do_instead(tmp_path):
    recurrent = translator_folder(tmp_path / "luong", LUONG)
    found = invoke("translate", str(recurrent), "--engine", "ctranslate2")
    assert found.returncode == 2
    assert found.stderr == (
        f"nungil: {recurrent} holds a recurrent translator, and CTranslate2 runs only Transformers that translate; "
        f"nungil translate {recurrent} runs it; to have a Transformer, nungil train --model transformer\n"
    )
    labels = classifier_folder(tmp_path / "labels", CLASSIFIER)
    with pytest.raises(UsageError, match=f"holds a classifier, .* nungil classify {labels} runs it"):
        nungil.load(labels, engine="ctranslate2")
    with pytest.raises(UsageError, match=r"there is no engine 'ctranslat'; did you mean ctranslate2\?"):
        nungil.load(recurrent, engine="ctranslat")


def test_without_the_package_it_says_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    found = invoke("translate", str(folder), "--engine", "ctranslate2")
    assert (found.returncode, found.stderr) == (2, "nungil: CTranslate2 is not installed; pip install 'nungil[ct2]'\n")
    assert nungil.load(folder).translate("I like snow")[0].finished, "our own engine does not need it"
