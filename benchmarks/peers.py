"""The peers of benchmarks/training.py and decoding.py: how each is installed, told of the same model, and run.

Each has an environment of its own. With other versions they do not start, or crash: JoeyNMT needs importlib_metadata
and a sentencepiece before 0.2.1, Eole needs aiohttp, and neither says so.
"""

import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DRIVER = Path(__file__).with_name("drive.py")
TORCH = "torch==2.13.0"
REQUIREMENTS = {
    "joeynmt": (TORCH, "joeynmt==2.3.0", "importlib_metadata", "sentencepiece==0.2.0"),
    "eole": (TORCH, "eole==0.6.4", "aiohttp"),
    "transformers": (TORCH, "transformers==5.22.0"),
    "ctranslate2": ("ctranslate2==4.8.4",),
}
BATCH = 4096  # tokens, as each counts them: sentences × the longest of either side, padding included
DROPOUT = SMOOTHING = 0.1
RATE, WARMUP = 1e-3, 50  # the highest learning rate, and the updates until it; after it, falling as 1/√update
BETAS, EPSILON, CLIP = (0.9, 0.98), 1e-8, 1.0  # of Adam, without weight decay
SEED = 1
# Of the LSTM, `width` is that of a state; the encoder's is half of it in each direction.
SIZES = {
    "transformer": {"layers": 3, "width": 256, "feed_forward": 1024, "heads": 4},
    "lstm": {"layers": 1, "width": 512, "embedding": 256},
}


@dataclass(frozen=True)
class Job:
    """One training run."""

    model: str  # transformer or lstm
    updates: int
    validates: bool  # at the end, on the whole validation set
    folder: Path  # of its own, and empty


@dataclass(frozen=True)
class Texts:
    """The corpus in pieces: train.en, train.de, valid.en, valid.de, and vocabulary.txt, a piece a line."""

    folder: Path
    rows: int


@dataclass(frozen=True)
class Result:
    """Target tokens of each update, the seconds at which each was done, and what else a run tells."""

    tokens: list[int]
    seconds: list[float]
    parameters: int
    vocabulary: int
    epoch: int
    unknown: int
    loss: float | None

    def speed(self, warm_up: int) -> float:
        """Target tokens a second after so many updates, padding not counted."""
        return sum(self.tokens[warm_up:]) / (self.seconds[-1] - self.seconds[warm_up - 1])


def install(peer: str, folder: Path) -> Path:
    """The python of a peer's environment under `folder`, which is made if it is missing."""
    home = folder / peer
    python = home / "bin" / "python"
    if python.exists():
        return python
    print(f"Installing {' '.join(REQUIREMENTS[peer])} into {home} …", flush=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        for wanted in (REQUIREMENTS[peer][:1], REQUIREMENTS[peer]):  # torch before what asks for it
            subprocess.run([*pip, *wanted], check=True)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)  # half an environment would be taken for a whole one
        raise
    return python


def run_peer(peer: str, python: Path, job: Job, texts: Texts, threads: int) -> Result:
    """Train with a peer in a process of its own."""
    settings = {"joeynmt": joeynmt_settings, "eole": eole_settings}[peer](job, texts)
    given, told = job.folder / "settings.json", job.folder / "report.json"
    given.write_text(json.dumps(settings))
    run([str(python), "-P", str(DRIVER), peer, str(given), str(told)], job.folder / "log.txt", threads)
    return Result(**json.loads(told.read_text()))


def run(command: list[str], log: Path, threads: int) -> None:
    """A process whose talk goes to a file; if it fails, the end of that is shown."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    with log.open("w") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{log.read_text()[-3000:]}")


def joeynmt_settings(job: Job, texts: Texts) -> dict[str, Any]:
    """JoeyNMT's configuration of the Transformer."""
    sizes = SIZES[job.model]
    side = {"level": "word", "lowercase": False, "voc_file": str(texts.folder / "vocabulary.txt")}
    stack = {
        "type": "transformer",
        "num_layers": sizes["layers"],
        "num_heads": sizes["heads"],
        "hidden_size": sizes["width"],
        "ff_size": sizes["feed_forward"],
        "dropout": DROPOUT,
        "layer_norm": "pre",
        "embeddings": {"embedding_dim": sizes["width"], "scale": True, "dropout": DROPOUT},
    }
    training = {
        "optimizer": "adamw",
        "adam_betas": list(BETAS),
        "clip_grad_norm": CLIP,
        "scheduling": "noam",
        "learning_rate": 1e-8,  # of the first update, before the schedule is asked
        "learning_rate_min": 1e-9,  # training ends below it
        "learning_rate_factor": _noam_factor(sizes["width"]),
        "learning_rate_warmup": WARMUP,
        "label_smoothing": SMOOTHING,
        "normalization": "tokens",
        "batch_size": BATCH,
        "batch_type": "token",
        "epochs": job.updates,
        "updates": job.updates,
        "logging_freq": 1,
        "validation_freq": job.updates if job.validates else job.updates + 1,
    }
    return {
        "name": "benchmark",
        "model_dir": str(job.folder / "model"),
        "use_cuda": False,
        "random_seed": SEED,
        "data": {
            "train": str(texts.folder / "train"),
            "dev": str(texts.folder / "valid"),
            "dataset_type": "plain",
            "src": {"lang": "en", **side},
            "trg": {"lang": "de", **side},
        },
        "testing": {"batch_size": BATCH, "batch_type": "token"},
        "training": training,
        "model": {
            "initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": stack,
            "decoder": stack,
        },
    }


def eole_settings(job: Job, texts: Texts) -> dict[str, Any]:
    """Eole's configuration of either model."""
    sizes = SIZES[job.model]
    model = _eole_transformer(sizes) if job.model == "transformer" else _eole_lstm(sizes)
    training = {
        "model_path": str(job.folder / "model"),
        "compute_dtype": "fp32",
        "optim": "adamw",
        "adam_beta1": BETAS[0],
        "adam_beta2": BETAS[1],
        "adam_eps": EPSILON,
        "max_grad_norm": CLIP,
        "decay_method": "noam",
        "learning_rate": _noam_factor(sizes["width"]),
        "warmup_steps": WARMUP,
        "dropout": [DROPOUT],
        "attention_dropout": [DROPOUT],
        "label_smoothing": SMOOTHING,
        "normalization": "tokens",
        "batch_size": BATCH,
        "batch_type": "tokens",
        "valid_batch_size": BATCH,
        "bucket_size": texts.rows,  # sorted by length together: an epoch
        "num_workers": 0,  # processes that make batches would take the cores from training
        "log_attention_entropy": False,
        "train_steps": job.updates,
        "valid_steps": job.updates if job.validates else job.updates + 1,
        "save_checkpoint_steps": job.updates + 1,
    }
    if job.model == "transformer":
        training |= {"param_init": 0, "param_init_method": "xavier_uniform"}
    return {
        "seed": SEED,
        "report_every": 1,
        "share_vocab": True,
        "src_vocab": str(texts.folder / "vocabulary.txt"),
        "data": {"corpus": _eole_files(texts.folder / "train"), "valid": _eole_files(texts.folder / "valid")},
        "model": model,
        "training": training,
    }


def _eole_files(prefix: Path) -> dict[str, Any]:
    return {"path_src": f"{prefix}.en", "path_tgt": f"{prefix}.de", "transforms": []}


def _eole_transformer(sizes: dict[str, int]) -> dict[str, Any]:
    return {
        "architecture": "transformer",
        "layers": sizes["layers"],
        "hidden_size": sizes["width"],
        "word_vec_size": sizes["width"],
        "heads": sizes["heads"],
        "transformer_ff": sizes["feed_forward"],
        "add_qkvbias": True,
        "add_final_linear_bias": True,  # unsaid, the encoder trains without, and predicts with whatever memory holds
        "add_ffnbias": True,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
        "embeddings": {
            "word_vec_size": sizes["width"],
            "position_encoding": True,
            "position_encoding_type": "SinusoidalInterleaved",
        },
    }


def _eole_lstm(sizes: dict[str, int]) -> dict[str, Any]:
    return {
        "architecture": "custom",  # the architecture "rnn" makes every encoder unidirectional, whatever is asked for
        "layers": sizes["layers"],
        "hidden_size": sizes["width"],
        "embeddings": {"word_vec_size": sizes["embedding"]},
        "input_feed": 0,
        "encoder": {"encoder_type": "brnn", "rnn_type": "LSTM"},  # its bridge crashes where an encoder reads both ways
        "decoder": {"decoder_type": "rnn", "rnn_type": "LSTM", "global_attention": "general"},
    }


def _noam_factor(width: int) -> float:
    """What makes factor · width^-½ · min(update^-½, update · warmup^-1½) have its highest value at RATE."""
    return RATE * math.sqrt(width * WARMUP)
