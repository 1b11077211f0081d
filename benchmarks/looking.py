"""How long does looking take? A sentence of many tokens in a Transformer: all heads recorded, one of them drawn.

Printed, in seconds of one core: writing the sentence again without and with an eye, the record, and each drawing.
What looking costs beyond the translation itself is the difference of the first two, the record, and one drawing.
"""

import argparse
import io
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from nungil.inspection.drawings.heatmap import print_picture
from nungil.inspection.recorder import Recorder
from nungil.inspection.saving import save_picture
from nungil.model.build import build_translator
from nungil.model.transformer import TransformerSettings
from nungil.model.vocabulary import Vocabulary

SIZE = 8_000  # of the vocabulary


def timed(name: str, work: Callable[[], Any]) -> Any:
    """What comes of the work; its time is printed."""
    begun = time.process_time()
    found = work()
    print(f"{name:34} {time.process_time() - begun:6.2f} s", flush=True)
    return found


def terminal(picture: Any, colours: str | None) -> None:
    """As a terminal of 160 columns would have it."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system=colours, width=160)  # type: ignore[arg-type]
    print_picture(picture, console)


def measure(tokens: int, layers: int, heads: int, width: int) -> None:
    """A random model: where it looks does not matter to the clock, but that its rows are full does."""
    settings = TransformerSettings(width=width, heads=heads, encoder_layers=layers, decoder_layers=layers)
    model = build_translator(settings, Vocabulary(source=SIZE, target=SIZE)).eval()
    source, target = torch.randint(4, SIZE, (2, 1, tokens)).unbind()
    keep, recorder = torch.ones_like(source, dtype=torch.bool), Recorder()
    named = [f"▁token{number}" for number in range(tokens)]
    with torch.inference_mode():
        model(source, keep, target)
        timed("read and written, no eye", lambda: model(source, keep, target))
        timed("read and written, all heads seen", lambda: model(source, keep, target, recorder))
    record = timed("record", lambda: recorder.record(0, named, named))
    picture = timed("one head chosen", lambda: record.picture("cross", layers - 1, heads - 1))
    timed("terminal, blocks", lambda: terminal(picture, None))
    timed("terminal, true colour", lambda: terminal(picture, "truecolor"))
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("svg", "png", "pdf"):
            path = Path(folder) / f"map.{ending}"
            timed(f"{ending.upper()}", lambda path=path: save_picture(picture, path))  # type: ignore[misc]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for option, usual in (("tokens", 512), ("layers", 6), ("heads", 8), ("width", 256)):
        parser.add_argument(f"--{option}", type=int, default=usual)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(f"{os.uname().machine}, torch {torch.__version__}, one thread")
    measure(**vars(parser.parse_args()))
