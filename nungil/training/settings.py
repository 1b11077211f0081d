"""The settings of training."""

from typing import Literal

from pydantic import Field

from nungil.model.products import Precision
from nungil.settings import Settings
from nungil.training.optimizer import OptimizerSettings
from nungil.training.schedule import ScheduleSettings
from nungil.training.stopping import Metric


class TrainingSettings(Settings):
    """How a model is trained. Settings that are None are chosen from the data, printed and stored."""

    steps: int | None = Field(None, ge=1, le=100_000_000, description="Most updates; by default by the corpus.")
    batch_tokens: int | None = Field(
        None, ge=16, le=10_000_000, description="Positions of a batch: sentences × the longest, padding included."
    )
    accumulation: int = Field(1, ge=1, le=1_024, description="Batches whose gradients are summed for one update.")
    schedule: ScheduleSettings | None = Field(None, description="The learning rate.")
    optimizer: OptimizerSettings = Field(default_factory=OptimizerSettings, description="AdamW.")
    label_smoothing: float | None = Field(
        None, ge=0, lt=1, description="Probability taken from the right answer; by default 0.1, for classifiers 0."
    )
    agreement: float | None = Field(
        None,
        ge=0,
        le=100,
        description="Weight of R-Drop (Liang 2021), for translators: every sentence is read twice with different "
        "dropout, and differences are penalised. Takes twice as long; by default off.",
    )
    recut: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Subword regularisation (Kudo 2018): words are segmented anew in every epoch, by probability to "
        "this power; 1 changes hardly any, 0.2 a quarter of them. Needs unigram pieces; by default off.",
    )
    hide: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="Share of the input tokens replaced by <unk> in training; by default 0.2 for classifiers, else 0.",
    )
    validate_every: int | None = Field(None, ge=1, description="Updates between validations.")
    metric: Metric | None = Field(
        None, description="What the best model is chosen by: bleu, chrf, loss or accuracy; by default bleu or accuracy."
    )
    patience: int = Field(
        8, ge=0, le=10_000, description="Validations without a better score or loss before training stops; 0: never."
    )
    average: int = Field(
        5, ge=1, le=100, description="Checkpoints to average; the mean becomes the model if it is better. 1: none."
    )
    average_of: Literal["best", "last"] = Field("best", description="Which checkpoints are averaged.")
    checkpoint_minutes: float = Field(
        10.0, gt=0, description="Minutes after which a checkpoint is written even if no validation is due."
    )
    precision: Precision | None = Field(
        None, description="Precision of products, fp32 or bf16; by default the faster one, measured."
    )
    processes: int = Field(
        1, ge=1, le=1_024, description="Processes that train together, each on a share of every batch."
    )
    threads: int | None = Field(
        None, ge=1, le=1_024, description="Threads of each process; by default the cores are divided among them."
    )
    log_every: int = Field(50, ge=1, description="Updates between lines of the log.")
    tensorboard: bool = Field(False, description="Also log to DIR/tensorboard, for TensorBoard.")
