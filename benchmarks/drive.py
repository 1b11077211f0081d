"""Trains with a peer, in the peer's environment, and tells how long each update took; benchmarks/peers.py starts it.

    PEER/bin/python benchmarks/drive.py joeynmt|eole SETTINGS.json REPORT.json

The peer's own entry point and training loop run unchanged; its trainer is only given a clock. Validation is the peer's
own too, but of plain cross-entropy: left alone, both report a loss with label smoothing.
"""

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Report:
    """What a run was: target tokens of each update, and the seconds at which each was done."""

    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    parameters: int = 0
    vocabulary: int = 0
    epoch: int = 0  # target tokens of one epoch
    unknown: int = 0  # those of them that the vocabulary lacks
    loss: float | None = None  # of validation, a token

    def stamp(self) -> None:
        """An update is done."""
        self.seconds.append(time.perf_counter())

    def describe(self, model: Any, vocabulary: int) -> None:
        """The sizes of the model."""
        self.parameters = sum(parameter.numel() for parameter in model.parameters())
        self.vocabulary = vocabulary


def main() -> None:
    """Train, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=["joeynmt", "eole"])
    parser.add_argument("settings", type=Path)
    parser.add_argument("report", type=Path)
    options = parser.parse_args()
    report = Report()
    {"joeynmt": drive_joeynmt, "eole": drive_eole}[options.peer](json.loads(options.settings.read_text()), report)
    options.report.write_text(json.dumps(asdict(report)))


def drive_joeynmt(settings: dict[str, Any], report: Report) -> None:
    """`joeynmt train`, without the test after it."""
    from joeynmt import prediction, training

    class Timed(training.TrainManager):
        def train_and_validate(self, train_data: Any, valid_data: Any) -> None:
            report.describe(self.model, len(self.model.trg_vocab))
            for number in range(len(train_data)):
                target = train_data[number][2]
                report.epoch += len(target) + 1
                report.unknown += sum(map(self.model.trg_vocab.is_unk, target))
            scheduled = self.scheduler.step

            def step(number: int) -> None:  # the last act of an update
                scheduled(number)
                report.stamp()

            self.scheduler.step = step
            super().train_and_validate(train_data, valid_data)

        def _train_step(self, batch: Any) -> Any:
            report.tokens.append(int(batch.ntokens))
            return super()._train_step(batch)

        def _validate(self, valid_data: Any) -> None:
            self.model.loss_function = ("crossentropy", 0.0)
            scores, *_ = prediction.predict(
                model=self.model,
                data=valid_data,
                device=self.device,
                n_gpu=0,
                compute_loss=True,
                normalization="tokens",
                # Nothing is translated; without attention asked for, this way of JoeyNMT's crashes.
                args=self.dev_cfg._replace(return_prob="ref", return_attention=True),
                autocast=self.autocast,
            )
            report.loss = math.log(scores["ppl"])

    Path(settings["model_dir"]).mkdir(parents=True)
    training.TrainManager = Timed
    training.train(rank=0, world_size=None, cfg=settings, skip_test=True)


def drive_eole(settings: dict[str, Any], report: Report) -> None:
    """`eole train`."""
    from eole import trainer
    from eole.bin.run.train import train
    from eole.config.run import TrainConfig
    from eole.inputters import text_utils

    rows = settings["training"]["bucket_size"]
    counted = iter(range(rows))
    numericalize = text_utils.Numericalizer.__call__

    def counting(self: Any, example: Any) -> Any:
        """The first bucket is an epoch; a target stands there with both its marks."""
        found = numericalize(self, example)
        if next(counted, None) is not None:
            report.epoch += len(found["tgt"]["tgt_ids"]) - 1
            report.unknown += found["tgt"]["tgt_ids"].count(self.vocabs["tgt"].default_id)
        return found

    class Timed(trainer.Trainer):
        def _train_step(self, batches: list[Any], *numbers: Any, **more: Any) -> None:
            if not report.tokens:
                report.describe(self.model, self.model.generator.out_features)
            super()._train_step(batches, *numbers, **more)
            pad = self.train_loss.padding_idx
            report.tokens.append(sum(int(batch["tgt"][:, 1:].ne(pad).sum()) for batch in batches))
            report.stamp()

        def validate(self, valid_iter: Any, moving_average: Any = None) -> Any:
            self.valid_loss.criterion.label_smoothing = 0.0
            found = super().validate(valid_iter, moving_average)
            report.loss = found.loss / found.n_tokens
            return found

    text_utils.Numericalizer.__call__ = counting
    trainer.Trainer = Timed
    train(TrainConfig(**settings))


if __name__ == "__main__":
    main()
