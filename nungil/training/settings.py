"""The settings of training."""

from typing import Literal

from pydantic import Field

from nungil.model.products import Precision
from nungil.settings import Settings
from nungil.training.optimizer import OptimizerSettings
from nungil.training.schedule import ScheduleSettings
from nungil.training.stopping import Metric


class TrainingSettings(Settings):
    """How a model is trained. What is None is worked out from the data, printed and stored."""

    steps: int | None = Field(None, ge=1, le=100_000_000, description="Updates at most; by default by the corpus.")
    batch_tokens: int | None = Field(
        None, ge=16, le=10_000_000, description="Positions of a batch: sentences × the longest, padding included."
    )
    accumulation: int = Field(1, ge=1, le=1_024, description="Batches whose gradients make one update.")
    schedule: ScheduleSettings | None = Field(None, description="The learning rate.")
    optimizer: OptimizerSettings = Field(default_factory=OptimizerSettings, description="AdamW.")
    label_smoothing: float | None = Field(
        None, ge=0, lt=1, description="Certainty taken from the right answer; by default 0.1, for classifiers none."
    )
    agreement: float | None = Field(
        None,
        ge=0,
        le=100,
        description="Translators read every sentence twice, each time with other parts dropped, and this weighs how "
        "far the two readings differ: it takes twice as long (R-Drop, Liang 2021); by default they read once.",
    )
    recut: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Words are cut anew in every epoch, by their probability to this power: 1 hardly ever otherwise, "
        "0.2 a quarter of them (Kudo 2018). Needs unigram pieces; by default never.",
    )
    hide: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="Share of the tokens that the model is not shown while training: <unk> stands for them; by default "
        "0.2 for classifiers, else none.",
    )
    validate_every: int | None = Field(None, ge=1, description="Updates between validations.")
    metric: Metric | None = Field(
        None, description="What is best: bleu, chrf, loss or accuracy; by default bleu, or accuracy of a classifier."
    )
    patience: int = Field(
        8, ge=0, le=10_000, description="Validations without a better score or loss before it stops; 0: never."
    )
    average: int = Field(5, ge=1, le=100, description="Checkpoints whose mean is tried as the model; 1: none.")
    average_of: Literal["best", "last"] = Field("best", description="The best ones, or the last ones.")
    checkpoint_minutes: float = Field(
        10.0, gt=0, description="Minutes after which a checkpoint is written even if no validation is due."
    )
    precision: Precision | None = Field(
        None, description="Of products: fp32, or bf16 where the processor is faster at it; by default measured."
    )
    processes: int = Field(
        1, ge=1, le=1_024, description="Processes that train together, each on a share of every batch."
    )
    threads: int | None = Field(
        None, ge=1, le=1_024, description="Processor threads of each process; by default the cores are shared out."
    )
    log_every: int = Field(50, ge=1, description="Updates between lines of the log.")
    tensorboard: bool = Field(False, description="Write the same numbers for TensorBoard, into DIR/tensorboard.")
