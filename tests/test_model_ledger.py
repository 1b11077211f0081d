"""The ledger of whole models: every number by hand for a tiny one, and every family held to what it puts out itself."""

import io
import itertools
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from command import invoke
from model_folders import CLASSIFIER, LUONG, TRANSFORMER, classifier_folder, translator_folder
from rich.cells import cell_len
from rich.console import Console
from small_models import CLASSES, SOURCE, TARGET, A, classifier, is_translator, recurrent, transformer

import nungil
from nungil.attention import Look
from nungil.errors import ShapeError, UsageError
from nungil.inspection import arithmetic, whole
from nungil.inspection.ledger import Ledger
from nungil.inspection.markdown import to_markdown
from nungil.inspection.numbers import read_numbers
from nungil.inspection.sheet import Sheet
from nungil.inspection.stories import STORIES
from nungil.inspection.terminal import print_ledger
from nungil.inspection.whole import Place, explain_model, kinds_of, settled
from nungil.inspection.worked import blocks, cells, vectors
from nungil.inspection.worked import classifier as worked_classifier
from nungil.inspection.worked import recurrent as worked_recurrent
from nungil.inspection.worked import transformer as worked_transformer
from nungil.inspection.worked.asked import Asked
from nungil.inspection.worked.parameters import Parameters
from nungil.model.recurrent import RecurrentSettings, RecurrentTranslator
from nungil.model.vocabulary import Vocabulary

READ, WRITTEN = 6, 5  # tokens of the source and of the target, all different sizes
EXACT, ROUNDED = 1e-12, 1e-5  # what a model in 64 and in 32 bits may differ by
SCORES = ["dot", "scaled-dot", "general", "concat", "additive", "location", "coverage"]
WINDOWS = ["none", "local-m", "local-p"]


def asked_of(model, step=3):
    """A sentence of random ids, and a translation of as random ones."""
    source = torch.randint(4, SOURCE, (READ,)).tolist()
    tokens = tuple(f"s{number}" for number in source)
    if not is_translator(model):
        return Asked(tuple(source), tokens, tuple(f"label{number}" for number in range(CLASSES)), step=step)
    written = torch.randint(4, TARGET, (WRITTEN,)).tolist()
    words = tuple(f"w{number}" for number in range(TARGET))
    return Asked(tuple(source), tokens, words, tuple(written), tuple(words[number] for number in written), step)


def places_of(model):
    """Every attention, layer and head of a model; one place that says nothing where it does not attend."""
    found = [
        Place(kind, layer, head)
        for kind, (layers, heads) in kinds_of(model).items()
        for layer, head in itertools.product(range(layers), range(heads))
    ]
    return found or [Place()]


def ledger_of(model, place=None, step=3):
    asked = asked_of(model, step)
    return explain_model(model, settled(model, asked, place or Place()), {"text": "a", "target": "b", "chosen": "c"})


def assert_sound(model):
    """Each place of it agrees with the model, in 64 bits to the last digits and in 32 bits as users run it."""
    for place in places_of(model):
        step = 3 if is_translator(model) or place.kind == "self" else 1
        assert ledger_of(model.double(), place, step).residual < EXACT, place
        assert ledger_of(model.float(), place, step).residual < ROUNDED, place


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("decoder", ["luong", "luong, fed", "bahdanau"])
@pytest.mark.parametrize("window", WINDOWS)
def test_every_score_and_window_of_every_recurrent_decoder_agrees_with_the_model(cell, decoder, window):
    for name, output in zip(SCORES, itertools.cycle(["tanh", "direct"])):
        score = {"name": name, "size": A, "window": window, "reach": 2, "longest": 12}
        chosen = {"decoder": decoder.split(",")[0], "input_feeding": decoder.endswith("fed")}
        assert_sound(recurrent(cell=cell, score=score, output=output, **chosen))


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_deep_one_way_and_plain_recurrent_models_agree(cell):
    assert_sound(recurrent(cell=cell, decoder="plain", encoder_layers=2, decoder_layers=3))
    assert_sound(recurrent(cell=cell, bidirectional=False, decoder_layers=2, tie=False))
    assert_sound(recurrent(cell=cell, decoder="bahdanau", encoder_layers=3, decoder_layers=2))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "none"])
def test_every_layer_and_head_of_every_attention_of_a_transformer_agrees(norm, positions):
    assert_sound(transformer(norm=norm, positions=positions))
    assert_sound(transformer(norm=norm, positions=positions, heads=1, tie="none", encoder_layers=1, decoder_layers=1))


@pytest.mark.parametrize("encoder", ["lstm", "gru", "rnn", "transformer", "none"])
def test_every_pooling_of_every_encoder_agrees(encoder):
    for pooling in ("mean", "max", "last"):
        assert_sound(classifier(encoder=encoder, pooling=pooling))
    for query in ("last", "learned"):
        assert_sound(classifier(encoder=encoder, query=query, layers=2, norm="post"))
    assert_sound(classifier(encoder=encoder, bidirectional=False, ngrams={"longest": 3, "buckets": 31}))


@pytest.mark.parametrize("name", SCORES)
def test_every_score_and_window_of_a_pooling_agrees(name):
    for window in WINDOWS:
        assert_sound(classifier(score={"name": name, "size": A, "window": window, "reach": 2, "longest": 12}))


@pytest.mark.parametrize("step", range(1, WRITTEN + 1))
def test_every_step_agrees(step):
    for model in (recurrent(input_feeding=True), recurrent(score={"name": "coverage", "size": A}), transformer()):
        assert ledger_of(model, step=step).residual < EXACT


@pytest.mark.parametrize("make", [transformer, lambda: classifier(encoder="transformer", layers=2)])
def test_the_head_that_is_written_out_is_the_one_that_was_asked_for(make):
    model = make()
    for place in places_of(model):
        step = 3 if is_translator(model) or place.kind == "self" else 1
        asked = settled(model, asked_of(model, step), place)
        seen = {}

        def eye(look: Look, seen=seen):
            seen[look.kind, look.layer] = look.weights[0].reshape(-1, *look.weights.shape[-2:]).numpy()
            return look.weights

        source, keep = torch.tensor([asked.source]), torch.ones(1, READ, dtype=torch.bool)
        with torch.no_grad():
            model(source, keep, *([torch.tensor([asked.put_in])] if is_translator(model) else []), eye)
        head = None if place.kind == "pooling" else place.head
        found = explain_model(model, asked, {}).step("weight", head=head, part=place.kind)
        row = seen[place.kind, place.layer][place.head, step - 1 if place.kind != "pooling" else 0]
        assert np.allclose(found.values, row, atol=1e-12), place
        assert found.layer == (None if place.kind == "pooling" else place.layer)


# One unit everywhere: an RNN that reads two tokens, asks by a dot product, and chooses among five words by [c; h_d].
TINY = {
    "source_embedding.table.weight": [[0.0], [0.0], [0.0], [0.0], [1.0], [-0.2]],
    "target_embedding.table.weight": [[0.0], [0.0], [0.5], [0.0], [1.0], [-1.0]],
    "encoder.layers.0.weight_ih_l0": [[1.0]],
    "encoder.layers.0.weight_hh_l0": [[0.5]],
    "encoder.layers.0.bias_ih_l0": [0.1],
    "encoder.layers.0.bias_hh_l0": [0.0],
    "bridge.hidden.weight": [[2.0]],
    "bridge.hidden.bias": [0.0],
    "decoder.layers.layers.0.weight_ih_l0": [[1.0]],
    "decoder.layers.layers.0.weight_hh_l0": [[-1.0]],
    "decoder.layers.layers.0.bias_ih_l0": [0.0],
    "decoder.layers.layers.0.bias_hh_l0": [0.2],
    "output.weight": [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [0.0, 3.0]],
    "output.bias": [-1.0, -1.0, -1.0, 0.0, 0.0, 0.5],
}


def tiny():
    chosen = {"cell": "rnn", "embedding": 1, "scale_embedding": False, "width": 1, "bidirectional": False}
    settings = RecurrentSettings.model_validate(
        {**chosen, "output": "direct", "score": {"name": "dot"}, "dropout": 0.0}
    )
    model = RecurrentTranslator(settings, Vocabulary(source=6, target=6))
    own = dict(model.named_parameters())
    assert own.keys() == TINY.keys()
    with torch.no_grad():
        for name, values in TINY.items():
            own[name].copy_(torch.tensor(values))
    return model.double()


def tiny_ledger():
    words = ("<pad>", "<unk>", "<sos>", "<eos>", "눈을", "본다")
    asked = Asked((4, 5), ("see", "snow"), words, (4, 5, 3), ("눈을", "본다", "<eos>"), 2)
    facts = {"text": "see snow", "target": "눈을 본다", "chosen_id": 5}
    model = tiny()
    return explain_model(model, settled(model, asked, Place()), facts)


def test_a_tiny_model_by_hand():
    ledger = tiny_ledger()
    first = math.tanh(1.0 * 1.0 + 0.1)
    second = math.tanh(-0.2 + 0.5 * first + 0.1)
    assert ledger.step("hidden state").values.ravel() == pytest.approx([first, second])
    begin = math.tanh(2 * second)
    after_sos = math.tanh(0.5 - begin + 0.2)
    assert ledger.step("previous state").values == pytest.approx([after_sos])
    state = math.tanh(1.0 - after_sos + 0.2)
    assert ledger.step("state").values == pytest.approx([state])
    exps = [math.exp(state * first), math.exp(state * second)]
    weights = [one / sum(exps) for one in exps]
    assert ledger.step("weight").values == pytest.approx(weights)
    context = weights[0] * first + weights[1] * second
    assert ledger.step("concat").values == pytest.approx([context, state])
    logits = [-1.0, -1.0, -1.0, context + state, 2 * context, 3 * state + 0.5]
    assert ledger.step("logit").values == pytest.approx(logits)
    shares = [math.exp(one) for one in logits]
    assert ledger.step("probability").values == pytest.approx([one / sum(shares) for one in shares])
    assert ledger.residual < EXACT


def printed(ledger, width=80, language="en"):
    console = Console(width=width, color_system=None, file=io.StringIO())
    print_ledger(ledger, console, language)
    return console.file.getvalue()


def test_a_page_reads_like_this():
    assert printed(replace(tiny_ledger(), residual=1.1e-16)) == PAGE


def test_a_narrow_page_keeps_every_number_and_no_line_is_wider_than_the_window():
    for model in (recurrent(cell="gru", score={"name": "coverage", "size": A}), transformer(), classifier()):
        ledger = ledger_of(model, step=3 if is_translator(model) else 1)
        for language in ("en", "ko"):
            wide = set(printed(ledger, 200, language).split())
            narrow = printed(ledger, 80, language)
            assert max(cell_len(line) for line in narrow.splitlines()) <= 80
            assert {word for word in wide if "─" not in word} <= set(narrow.split())


def test_of_a_vocabulary_the_most_probable_words_are_shown_and_the_rest_is_summed():
    ledger = ledger_of(recurrent())
    values = ledger.step("probability").values
    page = printed(ledger, 160)
    table = page[page.index("p = exp(z) / Σ") :].splitlines()[2:]
    shown = [line.split() for line in table[: table.index("")]]
    best = np.argsort(-values)[:10]
    assert [row[0] for row in shown[:10]] == [f"w{number}" for number in best]
    assert shown[10][:2] == ["13", "more"]
    assert float(shown[10][-1]) == pytest.approx(1 - values[best].sum(), abs=1e-4)
    assert shown[11][0] == "Σ"
    assert float(shown[11][-1]) == 1


def test_the_layers_of_a_deep_cell_are_told_apart():
    page = printed(ledger_of(recurrent(cell="gru", decoder_layers=2)), 160)
    cell = page[page.index("3. The new hidden state (GRU)") : page.index("4. Where")]
    assert [line for line in cell.splitlines() if line.startswith("Layer")] == ["Layer 0", "Layer 1"]
    assert cell.count("reset gate") == 2


def test_a_word_that_was_not_the_most_probable_is_said():
    model = recurrent()
    asked = settled(model, asked_of(model), Place())
    values = explain_model(model, asked, {}).step("probability").values
    third = int(np.argsort(-values)[2])
    told = printed(explain_model(model, asked, {"chosen_id": third}), 160)
    assert f"The text goes on with «w{third}» ({values[third]:.4f}), number 3 of them." in told


def test_korean_names_every_line_of_every_family():
    models = [recurrent(cell=cell, input_feeding=True) for cell in ("rnn", "gru", "lstm")]
    models += [recurrent(decoder="bahdanau"), recurrent(decoder="plain"), transformer(), transformer(norm="post")]
    models += [classifier(pooling=pooling, ngrams={"buckets": 31}) for pooling in ("attention", "mean", "max", "last")]
    models += [classifier(encoder="none"), classifier(encoder="none", query="last"), classifier(encoder="transformer")]
    for model in models:
        for place in places_of(model)[-1:]:
            ledger = ledger_of(model, place, 3 if is_translator(model) or place.kind == "self" else 1)
            page = to_markdown(ledger, "ko")
            headings = re.findall(r"^- (\S.*?) `|\| ([^|<]+)<br>|^### (.*)", page, flags=re.M)
            for heading in {"".join(found) for found in headings}:
                assert re.search("[가-힣]", heading) or heading in ("tanh", "3. n-gram"), heading


def test_every_part_has_a_story_and_every_story_a_part():
    models = [
        recurrent(cell=cell, decoder=decoder) for cell in ("rnn", "gru") for decoder in ("luong", "bahdanau", "plain")
    ]
    models += [transformer(), classifier(encoder="none"), classifier(ngrams={"buckets": 31})]
    models += [classifier(pooling=pooling) for pooling in ("mean", "max", "last")]
    told = "".join(to_markdown(ledger_of(model, place, 1)) for model in models for place in places_of(model))
    for name, story in STORIES.items():
        sentence = story.told[0].split("{")[0].split("«")[0].replace("<sos>", "&lt;sos&gt;")
        assert sentence in told, name


FAULTS = {
    "a gate": (cells, "sigmoid", lambda values: 0.5 * (1 + np.tanh(values)), lambda: recurrent(cell="gru")),
    "a cell": (worked_recurrent, "step_cell", lambda *given: cells.State(given[3].hidden, given[3].memory), recurrent),
    "the norm's ε": (vectors, "EPSILON", 1e-2, transformer),
    "positions": (worked_transformer, "positions", lambda count, width: np.zeros((count, width)), transformer),
    "one head's look": (
        blocks,
        "look_with_head",
        lambda sheet, head: arithmetic.look_with_head(sheet, replace(head, query=head.query * 1.01)),
        transformer,
    ),
    "a look": (
        worked_recurrent,
        "look",
        lambda sheet, act: arithmetic.look(sheet, replace(act, keys=act.keys[::-1])),
        recurrent,
    ),
    "a pooling": (
        worked_classifier,
        "look",
        lambda sheet, act: arithmetic.look(sheet, replace(act, query=-act.query)),
        classifier,
    ),
    "the hash of n-grams": (
        worked_classifier,
        "MULTIPLIER",
        1_000_033,
        lambda: classifier(ngrams={"longest": 2, "buckets": 31}),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_arithmetic_shows_in_the_residual(monkeypatch, name):
    """The check can fail: let one line of the arithmetic be wrong, and the residual and the page say so."""
    module, attribute, wrong, make = FAULTS[name]
    model = make()
    step = 3 if is_translator(model) else 1
    assert ledger_of(model, step=step).residual < EXACT
    monkeypatch.setattr(module, attribute, wrong)
    ledger = ledger_of(model, step=step)
    assert ledger.residual > 10 * ROUNDED
    assert "this page cannot be trusted" in to_markdown(ledger)


def test_biases_and_the_second_half_of_a_softmax_are_seen_too(monkeypatch):
    model = transformer()
    monkeypatch.setattr(Parameters, "linear", lambda self, name, vectors: vectors @ self[f"{name}.weight"].T)
    assert ledger_of(model).residual > 10 * ROUNDED
    monkeypatch.undo()
    softmax = Sheet.softmax
    monkeypatch.setattr(Sheet, "softmax", lambda self, scores, *rest: softmax(self, scores * 1.01, *rest))
    assert ledger_of(model).residual > 10 * ROUNDED


def test_a_changed_weight_of_the_model_is_not_overlooked(monkeypatch):
    """The other side of the check: a model that does something else than its weights say."""
    model = recurrent()
    logits = model.logits
    monkeypatch.setattr(model, "logits", lambda features: logits(features) * 1.01)
    assert ledger_of(model).residual > ROUNDED


def test_what_is_only_rounding_is_told_from_a_fault(monkeypatch):
    monkeypatch.setattr(whole, "ROUNDING", 1e-12)
    ledger = ledger_of(transformer().float())
    assert ledger.residual > 1e-12
    assert ledger.numbers["residual_in_double"] < EXACT
    rounded = replace(ledger, residual=2e-5)
    assert "That is more than 1e-05. With the model in 64-bit numbers it is" in to_markdown(rounded)


def test_a_ledger_goes_through_json_unchanged():
    for model in (recurrent(), transformer(), classifier()):
        ledger = ledger_of(model, step=3 if is_translator(model) else 1)
        plain = json.loads(json.dumps(ledger.to_json()))
        assert Ledger.from_json(plain).to_json() == ledger.to_json() == plain
        assert plain["residual"] == ledger.residual


def test_what_a_model_cannot_read_is_refused_by_the_model_itself():
    model = recurrent(score={"name": "location", "longest": READ - 1})
    with pytest.raises(ShapeError, match=f"Location was built for at most {READ - 1} source steps"):
        ledger_of(model)


def test_a_model_in_training_stays_in_training():
    model = recurrent(dropout=0.5).train()
    assert ledger_of(model).residual < EXACT
    assert model.training


@pytest.fixture
def folder(tmp_path):
    return translator_folder(tmp_path / "luong")


def test_from_python_the_probabilities_are_those_of_the_translation(folder):
    model = nungil.load(folder)
    best = model.translate("I like snow")[0]
    for step, probability in enumerate(best.probabilities, start=1):
        ledger = model.explain("I like snow", step)
        chosen = ledger.numbers["chosen_id"]
        assert ledger.step("probability").values[chosen] == pytest.approx(probability, abs=1e-5)
        assert ledger.residual < ROUNDED
        assert ledger.step("weight").axes[0].labels == ("<sos>", "I", "like", "snow", "<eos>")


def test_from_python_a_classifier_ends_at_its_label(tmp_path):
    model = nungil.load(classifier_folder(tmp_path / "words"))
    ledger = model.explain("I like snow")
    answer = model.classify("I like snow")[0]
    assert ledger.step("probability").values == pytest.approx(list(answer.probabilities.values()), abs=1e-6)
    assert (ledger.kind, ledger.layer, ledger.mechanism) == ("pooling", 0, "additive")
    assert f"«{answer.label}»" in to_markdown(ledger)


def test_a_step_on_the_command_line(folder):
    found = invoke("explain", str(folder), "I like snow", "--step", "2", "--target", "나는 눈을 좋아한다")
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith(
        "Step 2 of 4: after «나는» comes «눈을»\nI like snow → 나는 눈을 좋아한다\n\n1. The source"
    )
    assert found.stderr == (f"Next: nungil explain {folder} 'I like snow' --step 3 --target '나는 눈을 좋아한다'\n")
    asked = ("I like snow", "--step", "2", "--target", "나는 눈을 좋아한다", "--lang", "ko")
    korean = invoke("explain", str(folder), *asked)
    goes_on = f"nungil explain {folder} 'I like snow' --step 3 --target '나는 눈을 좋아한다' --lang ko"
    assert korean.stderr == f"Next: {goes_on}\n"
    plain = json.loads(invoke("explain", str(folder), "I like snow", "--json").stdout)
    assert plain["residual"] < ROUNDED
    assert plain["numbers"]["text"] == "I like snow"
    korean = invoke("explain", str(folder), "I like snow", "--lang", "ko", "--markdown").stdout
    for word in ("은닉 상태", "어텐션 스코어", "어텐션 가중치", "컨텍스트 벡터 (가중합)", "연결 (concat)", "출력 확률"):
        assert word in korean


def test_the_last_step_leads_on_to_the_map(folder):
    found = invoke("explain", str(folder), "I like snow", "--step", "4", "--target", "나는 눈을 좋아한다")
    assert found.stderr == f"Next: nungil look {folder} 'I like snow'\n"


def test_a_text_that_was_cut_is_said_to_be(tmp_path):
    found = invoke("explain", str(classifier_folder(tmp_path / "words", longest=2)), "I like snow")
    assert found.stderr.startswith("The text is longer than the 2 tokens that the model reads; the rest was left out\n")
    assert "\nsnow " not in found.stdout.split("Which label?")[0]


def test_a_plain_decoder_is_explained_without_attention(tmp_path):
    folder = translator_folder(tmp_path / "plain", {**LUONG, "decoder": "plain"})
    found = invoke("explain", str(folder), "I like snow")
    assert found.returncode == 0, found.stderr
    assert "This decoder has no attention" in found.stdout
    assert "Where does it look" not in found.stdout
    refused = invoke("explain", str(folder), "I like snow", "--layer", "0")
    assert refused.stderr == (
        "nungil: this model has a plain decoder: there is no layer or head to choose; leave --layer and --head out\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["I like snow", "--step", "5"],
            "there is no step 5; 4 steps are written, counted from 1: 나는 눈을 좋아한다 <eos>",
        ),
        (
            ["I like snow", "--step", "0"],
            "there is no step 0; 4 steps are written, counted from 1: 나는 눈을 좋아한다 <eos>",
        ),
        (
            ["I like snow", "--layer", "3"],
            "cross attention has no layer 3; its layers, from 0: 0, 1, 2; kind self has 1 of them",
        ),
        (
            ["I like snow", "--layer", "-1"],
            "cross attention has no layer -1; its layers, from 0: 0, 1, 2; kind self has 1 of them",
        ),
        (["I like snow", "--head", "3"], "cross attention of layer 2 has no head 3; its heads, from 0: 0, 1, 2"),
        (["I like snow", "--kind", "pooling"], "this model has no pooling attention; it has cross, masked, self"),
        (
            ["I like snow", "--kind", "self", "--step", "6"],
            "there is no step 6; 5 steps are read, counted from 1: <sos> I like snow <eos>",
        ),
        ([" "], "the text is empty; there is nothing to look at"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(tmp_path, arguments, message):
    folder = translator_folder(tmp_path / "transformer", TRANSFORMER)
    found = invoke("explain", str(folder), *arguments, "--target", "나는 눈을 좋아한다")
    assert (found.returncode, found.stdout, found.stderr) == (2, "", f"nungil: {message}\n")


def test_a_classifier_has_one_step_and_no_target(tmp_path):
    folder = str(classifier_folder(tmp_path / "words"))
    for arguments, message in (
        (["--step", "2"], "there is no step 2; one step is made, counted from 1"),
        (["--target", "a"], "--target is for translators; a classifier has labels"),
    ):
        assert invoke("explain", folder, "I like snow", *arguments).stderr == f"nungil: {message}\n"
    mean = classifier_folder(tmp_path / "mean", {**CLASSIFIER, "pooling": "mean"})
    assert "Every token counts alike" in invoke("explain", str(mean), "I like snow").stdout
    assert "a pooling that does not look" in invoke("explain", str(mean), "I like snow", "--head", "0").stderr


def test_a_folder_that_is_none_and_options_that_do_not_go_together(tmp_path, folder):
    for arguments, code, message in (
        ([str(tmp_path / "none"), "a"], 2, f"{tmp_path / 'none'}: there is no such folder; a model folder is what"),
        ([str(tmp_path), "a"], 4, f"{tmp_path}: not a model folder: there is no config.json in it"),
        ([str(folder)], 2, f"explain needs a text beside the folder: nungil explain {folder} 'I like snow'"),
        ([str(folder), "a", "--query", "1"], 2, "a model folder, --example, --query and --numbers are four things to"),
        (["--example", "--step", "2"], 2, "TEXT, --step, --layer, --head, --kind and --target go with a model folder"),
        (["--example", "dot", "text"], 2, "TEXT, --step, --layer, --head, --kind and --target go with a model folder"),
    ):
        found = invoke("explain", *arguments)
        assert (found.returncode, found.stdout) == (code, "")
        assert found.stderr.startswith(f"nungil: {message}")


def test_the_ledger_of_a_model_cannot_be_taken_for_numbers(tmp_path):
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(tiny_ledger().to_json()))
    with pytest.raises(UsageError, match=r"ledger.json: the ledger of a trained model, which holds no matrices"):
        read_numbers(path)


PAGE = """\
Step 2 of 3: after «눈을» comes «본다»
see snow → 눈을 본다

1. The source is read
Each token becomes a vector, its embedding x. The RNN reads them and leaves a
hidden state h_s for each token. Of the last one the decoder's first state h₀ is
made.

           embedding   hidden state
token   x = E[token]      h_s = RNN
───────────────────────────────────
see           1.0000         0.8005
snow         -0.2000         0.2915

last state    h_n                    [0.2915]
first state   h₀ = tanh(W h_n + b)   [0.5249]

2. The word put in: «눈을»
The decoder is given what was written last (<sos> at the beginning), as an
embedding y.

embedding   x = y = E[word]   [1]

3. The new hidden state (RNN)
Of what is put in and of the state before, the RNN makes the decoder's hidden
state h_d.

state before   h_d₋₁                           [0.1733]
hidden state   h_d = tanh(W x + U h_d₋₁ + b)   [0.7726]

4. Where does it look? (attention)
The hidden state h_d is the query. Its score with a key h_s says how well they
go together. Softmax makes weights of the scores in two steps: exp, so that all
are positive, and division by their sum. The sum of the states h_s, each times
its weight, is the context vector c.

query   h_d   [0.7726]

           key           score      exp           weight   weight × value
token      h_s   e = h_d · h_s   exp(e)   α = exp(e) / Σ            α·h_s
─────────────────────────────────────────────────────────────────────────
see     0.8005          0.6184   1.8560           0.5971           0.4779
snow    0.2915          0.2252   1.2526           0.4029           0.1175
Σ                                3.1086           1.0000           0.5954

context vector (weighted sum)   c = Σ α·h_s   [0.5954]

5. Which word comes out?
Context vector and hidden state are joined. Each word of the vocabulary gets a
logit, and softmax makes probabilities of them: exp, and division by the sum.

concat   [c; h_d]   [0.5954, 0.7726]

                         logit       exp      probability
word    z = W_s [c; h_d] + b_s    exp(z)   p = exp(z) / Σ
─────────────────────────────────────────────────────────
<pad>                  -1.0000    0.3679           0.0147
<unk>                  -1.0000    0.3679           0.0147
<sos>                  -1.0000    0.3679           0.0147
<eos>                   1.3680    3.9274           0.1567
눈을                    1.1908    3.2898           0.1313
본다                    2.8177   16.7384           0.6680
Σ                                25.0593           1.0000

It looks most at «see» (0.5971).
The most probable output is «본다» (0.6680).
residual 1.1e-16: the largest difference between these numbers and what the
model itself put out, in its attention weights and its probabilities
"""
