"""Products in bfloat16: every model still learns, and what is summed is summed in single precision."""

import pytest
import torch
from small_models import CLASSES, MODELS, TARGET, B, T, is_translator, source_batch

from nungil.batches.batch import LabelledBatch, PairBatch
from nungil.decoding.native import Native
from nungil.decoding.settings import SearchSettings
from nungil.model.products import computing_in
from nungil.model.quick.build import quick
from nungil.text.tokenizers.base import SOS
from nungil.training import precision
from nungil.training.losses import classification_loss, translation_loss
from nungil.training.precision import measure
from nungil.training.vocabulary import vocabulary_loss


def loss_of(model):
    torch.manual_seed(11)
    source, keep = source_batch()
    if not is_translator(model):
        return classification_loss(model, LabelledBatch(source, keep, torch.randint(CLASSES, (B,))))
    target = torch.randint(4, TARGET, (B, T))
    batch = PairBatch(source, keep, torch.roll(target, 1, dims=1), target, torch.ones(B, T, dtype=torch.bool))
    return translation_loss(model, batch, 0.1)


def gradient_of(model, kind):
    """The loss, and all gradients in one row."""
    model.zero_grad()
    with computing_in(kind):
        loss = loss_of(model)
    loss.total.backward()
    assert loss.total.dtype == torch.float32
    return loss, torch.cat([parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None])


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_nearly_the_same_in_bfloat16(name):
    model = MODELS[name]().float()
    for parameter in model.parameters():
        parameter.data.mul_(0.5)  # where weights are huge, a rounded score decides who is looked at
    (exact, gradient), (rounded, rounded_gradient) = (gradient_of(model, kind) for kind in ("fp32", "bf16"))
    assert rounded.plain == pytest.approx(exact.plain, rel=0.02)
    assert rounded_gradient.dtype == torch.float32
    assert torch.cosine_similarity(gradient, rounded_gradient, dim=0) > 0.99


def test_the_loss_over_a_vocabulary_is_summed_in_single_precision():
    features, weight, bias = torch.randn(50, 16), 0.1 * torch.randn(900, 16), torch.randn(900)
    right = torch.randint(900, (50,))
    exact = vocabulary_loss(features, weight, bias, right, 0.1)
    with computing_in("bf16"):
        rounded = vocabulary_loss(features.bfloat16(), weight, bias, right, 0.1)
    assert rounded.total.dtype == torch.float32
    assert rounded.total.item() == pytest.approx(exact.total.item(), rel=2e-3)


def test_few_shapes_are_kept_from_the_first_product_on(monkeypatch):
    happened, ones = [], torch.ones
    monkeypatch.setattr(precision, "keep_few_shapes", lambda: happened.append("few shapes"))
    monkeypatch.setattr(torch, "ones", lambda *size: happened.append("a matrix") or ones(*size))
    measure()
    assert happened[:2] == ["few shapes", "a matrix"]


def test_the_faster_one_is_chosen():
    found = measure()
    assert found.ratio > 0
    assert found.precision == ("bf16" if found.ratio >= 1.3 else "fp32")


def test_the_agreement_of_two_readings_is_summed_in_single_precision():
    features, weight, bias = torch.randn(50, 16), 0.1 * torch.randn(900, 16), torch.randn(900)
    right = torch.randint(900, (25,)).repeat_interleave(2)
    exact = vocabulary_loss(features, weight, bias, right, 0.1, agreement=5.0)
    with computing_in("bf16"):
        rounded = vocabulary_loss(features, weight, bias, right, 0.1, agreement=5.0)
    assert rounded.total.dtype == torch.float32
    assert rounded.total.item() == pytest.approx(exact.total.item(), rel=2e-3)
    assert rounded.total.item() != torch.tensor(rounded.total.item()).bfloat16().item()


@pytest.mark.parametrize("kind", ["bf16", "int8"])
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("name", [name for name in MODELS if is_translator(MODELS[name]())])
def test_a_short_search_finds_log_probabilities_that_the_model_gives(name, beam, kind):
    """What is found may differ at near-ties, so it is held to what single precision makes of the same sentence."""
    model = MODELS[name]().float().eval()
    for parameter in model.parameters():
        parameter.data.mul_(0.5)
    source, keep = source_batch()
    sources = [row[real].tolist() for row, real in zip(source, keep, strict=True)]
    settings = SearchSettings(beam=beam, shortest=4, longest=4, precision=kind)
    for (found,), ids in zip(Native(model).search(sources, [4] * len(sources), settings), sources, strict=True):
        put_in = torch.tensor([[SOS, *found.ids]])
        with torch.inference_mode():
            features = model(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool), put_in).features
            exact = model.logits(features).log_softmax(dim=-1)[0, range(4), found.ids]
        assert found.log_probabilities[:4] == pytest.approx(exact.tolist(), abs=0.1)
        if kind == "bf16" or quick(model) is not None:
            assert found.log_probabilities[:4] != pytest.approx(exact.tolist(), abs=1e-6)  # it was not in full
