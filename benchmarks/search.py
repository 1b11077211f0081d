"""Translates with one contestant, in its own environment, and tells how long that took; benchmarks/decoding.py asks.

    PYTHON benchmarks/search.py JOB.json REPORT.json

Each contestant's own search runs unchanged. It is given sentences sorted by length, and takes the same number of steps
for each of them. Weights are as they begin: what they say is of no interest, only how long it takes to say it.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Sentences = list[list[str]]
Setting = dict[str, int]  # batch, and whatever else the contestant lets one choose
Translate = Callable[[Sentences, Setting], list[int]]  # how many steps each sentence took
SPECIALS = 4  # ids before the first piece of the vocabulary
END = 3
WARM_UP = 5  # one sentence in so many is translated beforehand


@dataclass(frozen=True)
class Job:
    """What is to be translated, by what, how."""

    contestant: str
    beam: int
    steps: int
    sentences: Sentences  # in pieces
    vocabulary: list[str]  # pieces, without special tokens
    sizes: dict[str, int]  # of the model
    settings: list[Setting]
    given: dict[str, Any]  # what else this contestant needs

    def ids(self, sentences: Sentences) -> list[list[int]]:
        """The sentences as numbers, with an end."""
        places = {piece: number for number, piece in enumerate(self.vocabulary, SPECIALS)}
        return [[*(places.get(piece, 1) for piece in sentence), END] for sentence in sentences]


def main() -> None:
    """Translate with every setting, once; write the seconds, and the most memory that the process had."""
    job = Job(**json.loads(Path(sys.argv[1]).read_text()))
    translate = CONTESTANTS[job.contestant](job)
    seconds = []
    for setting in job.settings:
        translate(job.sentences[::WARM_UP], setting)
        began = time.perf_counter()
        steps = translate(job.sentences, setting)
        seconds.append(time.perf_counter() - began)
        if steps != [job.steps] * len(job.sentences):
            raise SystemExit(f"{job.contestant} took {min(steps)} to {max(steps)} steps, not {job.steps}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    Path(sys.argv[2]).write_text(json.dumps({"seconds": seconds, "peak": peak}))


def nungil(job: Job) -> Translate:
    """Our own engine as `nungil translate` has it: there is nothing to set."""
    from nungil.decoding.native import Native

    return _searching(Native(_own_model(job)), job, precision=job.given["compute"])


def nungil_ctranslate2(job: Job) -> Translate:
    """`--engine ctranslate2`: it chooses threads and batches by itself."""
    from nungil.engines import CTranslate2

    return _searching(CTranslate2(_own_model(job), compute=job.given["compute"]), job)


def _searching(engine: Any, job: Job, **more: Any) -> Translate:
    from nungil.decoding.settings import SearchSettings

    longest = job.steps - 1  # and then it is asked for the end
    settings = SearchSettings(beam=job.beam, shortest=longest, longest=longest, scores=False, **more)

    def translate(sentences: Sentences, setting: Setting) -> list[int]:
        del setting
        found = engine.search(job.ids(sentences), [longest] * len(sentences), settings)
        return [len(best.ids) + 1 for best, *_ in found]

    return translate


def _own_model(job: Job) -> Any:
    import torch
    from pydantic import TypeAdapter

    from nungil.model.build import build_translator
    from nungil.model.recurrent import RecurrentSettings
    from nungil.model.transformer import TransformerSettings
    from nungil.model.vocabulary import Vocabulary

    torch.manual_seed(1)
    settings = TypeAdapter(RecurrentSettings | TransformerSettings).validate_python(job.given["settings"])
    size = len(job.vocabulary) + SPECIALS
    return build_translator(settings, Vocabulary(source=size, target=size, joint=True)).eval()


def transformers(job: Job) -> Translate:
    """`generate` of a Marian model, which has post-norm blocks: as many products, other places for the norms."""
    import torch
    from transformers import GenerationConfig, MarianConfig, MarianMTModel
    from transformers.utils import logging

    logging.set_verbosity_error()
    layers, heads, inner = job.sizes["layers"], job.sizes["heads"], job.sizes["feed_forward"]
    config = MarianConfig(
        vocab_size=len(job.vocabulary) + SPECIALS,
        d_model=job.sizes["width"],
        **{"encoder_layers": layers, "encoder_attention_heads": heads, "encoder_ffn_dim": inner},
        **{"decoder_layers": layers, "decoder_attention_heads": heads, "decoder_ffn_dim": inner},
        **{"activation_function": "relu", "scale_embedding": True, "share_encoder_decoder_embeddings": True},
        **{"pad_token_id": 0, "eos_token_id": END, "decoder_start_token_id": 2, "forced_eos_token_id": None},
    )
    torch.manual_seed(1)
    model = MarianMTModel(config).eval()
    asked = GenerationConfig(
        num_beams=job.beam,
        **{"do_sample": False, "min_new_tokens": job.steps, "max_new_tokens": job.steps},
        **{"pad_token_id": 0, "eos_token_id": END, "decoder_start_token_id": 2, "forced_eos_token_id": None},
    )

    def translate(sentences: Sentences, setting: Setting) -> list[int]:
        steps: list[int] = []
        for batch in _batches(job.ids(sentences), setting["batch"]):
            rows = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in batch], batch_first=True)
            with torch.inference_mode():
                written = model.generate(input_ids=rows, attention_mask=(rows != 0).long(), generation_config=asked)
            steps += [written.shape[1] - 1] * len(batch)
        return steps

    return translate


def eole(job: Job) -> Translate:
    """`eole predict` of a model that has had a few updates: Eole makes no other."""
    from eole.config.run import PredictConfig
    from eole.inference_engine import InferenceEnginePY

    engines: dict[int, Any] = {}

    def translate(sentences: Sentences, setting: Setting) -> list[int]:
        batch = setting["batch"]
        if batch not in engines:
            asked = {"beam_size": job.beam, "top_k": int(job.beam == 1), "length_penalty": "wu"}
            forced = {"min_length": job.steps, "max_length": job.steps, "max_length_ratio": 0}
            where = {"model_path": job.given["model"], "src": "none", "compute_dtype": "fp32"}
            config = PredictConfig(**where, **asked, **forced, batch_size=batch, batch_type="sents")
            engines[batch] = InferenceEnginePY(config)
        _, _, found = engines[batch].infer_list([" ".join(sentence) for sentence in sentences])
        return [len(best.split(" ")) for best, *_ in found]

    return translate


def joeynmt(job: Job) -> Translate:
    """JoeyNMT's `search`, called batch by batch; its `translate` would write and read files in between."""
    import torch
    from joeynmt.batch import Batch
    from joeynmt.model import build_model
    from joeynmt.search import search
    from joeynmt.vocabulary import build_vocab

    settings = job.given["settings"]
    source, target = build_vocab({**settings["data"], "special_symbols": SimpleNamespace(**job.given["specials"])})
    model = build_model(settings["model"], src_vocab=source, trg_vocab=target).eval()

    def translate(sentences: Sentences, setting: Setting) -> list[int]:
        steps: list[int] = []
        for batch in _batches(sentences, setting["batch"]):
            ids, lengths, _ = source.sentences_to_ids(batch, bos=False, eos=True)
            rows = torch.tensor(ids)
            made = Batch(
                src=rows,
                src_length=torch.tensor(lengths),
                **{"src_prompt_mask": None, "trg": None, "trg_prompt_mask": None},
                indices=torch.arange(len(batch)),
                device=torch.device("cpu"),
                **{"pad_index": source.pad_index, "eos_index": source.eos_index, "is_train": False},
            )
            written, _, _ = search(model, made, job.steps, job.beam, 1.0, min_output_length=job.steps)
            steps += [written.shape[1]] * len(batch)
        return steps

    return translate


def ctranslate2_model(job: Job) -> Translate:
    """Write the model that CTranslate2 is to run: in a process of its own, since that takes memory."""
    specification = _specification(job)
    specification.validate()
    specification.save(job.given["folder"])

    def translate(sentences: Sentences, setting: Setting) -> list[int]:
        raise NotImplementedError(len(sentences), setting)

    return translate


def ctranslate2(job: Job) -> Translate:
    """CTranslate2 with as many translators as the setting says, each with so many threads."""
    import ctranslate2 as library

    translators: dict[tuple[int, int], Any] = {}
    for workers, threads in {(setting["workers"], setting["threads"]) for setting in job.settings}:
        translators[workers, threads] = library.Translator(
            job.given["folder"], compute_type=job.given["compute"], inter_threads=workers, intra_threads=threads
        )

    def translate(sentences: Sentences, setting: Setting) -> list[int]:
        found = translators[setting["workers"], setting["threads"]].translate_batch(
            sentences,
            beam_size=job.beam,
            max_batch_size=setting["batch"],
            min_decoding_length=job.steps,
            max_decoding_length=job.steps,
            return_end_token=True,
        )
        return [len(one.hypotheses[0]) for one in found]

    return translate


def _specification(job: Job) -> Any:
    """A Transformer of the same sizes, pre-norm, with numbers at random."""
    import numpy as np
    from ctranslate2.specs import TransformerSpec

    random = np.random.default_rng(1)
    width, inner = job.sizes["width"], job.sizes["feed_forward"]

    def numbers(*shape: int) -> Any:
        return random.normal(0, width**-0.5, shape).astype(np.float32)

    def linear(place: Any, outputs: int, inputs: int) -> None:
        place.weight, place.bias = numbers(outputs, inputs), numbers(outputs)

    def norm(place: Any) -> None:
        place.gamma, place.beta = np.ones(width, np.float32), numbers(width)

    def attention(place: Any, *outputs: int) -> None:
        norm(place.layer_norm)
        for layer, size in zip(place.linear, outputs, strict=True):
            linear(layer, size, width)

    found = TransformerSpec.from_config(job.sizes["layers"], job.sizes["heads"], pre_norm=True)
    names = ["<pad>", "<unk>", "<s>", "</s>", *job.vocabulary]
    table, places = numbers(len(names), width), numbers(512, width)
    found.encoder.embeddings[0].weight = found.decoder.embeddings.weight = table
    found.encoder.position_encodings.encodings = found.decoder.position_encodings.encodings = places
    found.decoder.projection.weight, found.decoder.projection.bias = table, numbers(len(names))
    for side in (found.encoder, found.decoder):
        norm(side.layer_norm)
        for layer in side.layer:
            attention(layer.self_attention, 3 * width, width)
            norm(layer.ffn.layer_norm)
            linear(layer.ffn.linear_0, inner, width)
            linear(layer.ffn.linear_1, width, inner)
    for layer in found.decoder.layer:
        attention(layer.attention, width, 2 * width, width)
    found.register_source_vocabulary(names)
    found.register_target_vocabulary(names)
    found.config.add_source_eos = True
    return found


def _batches(rows: list[Any], size: int) -> list[list[Any]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


CONTESTANTS: dict[str, Callable[[Job], Translate]] = {
    "nungil": nungil,
    "nungil_ctranslate2": nungil_ctranslate2,
    "transformers": transformers,
    "eole": eole,
    "joeynmt": joeynmt,
    "ctranslate2": ctranslate2,
    "ctranslate2_model": ctranslate2_model,
}

if __name__ == "__main__":
    main()
