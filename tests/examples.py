"""Examples of small models: one source, and something written for it."""

from small_models import is_translator

from nungil.inspection.example import Example

SOURCE = (5, 7, 9, 4, 6)  # all different, so that a word has one place
WRITTEN = (5, 8, 11, 3)
LABEL = (2,)


def spelled(ids):
    return [f"w{number}" for number in ids]


def example_of(model, source=SOURCE, written=None) -> Example:
    """What this model is asked about; ids as names."""
    written = written or (WRITTEN if is_translator(model) else LABEL)
    return Example(model, tuple(source), tuple(written), spelled, spelled)
