"""Packages that only studies need: where one is missing, one line says how to get it. No torch."""

from importlib import import_module
from types import ModuleType

from nungil.errors import ResourceError

EXTRAS = {"matplotlib": "plot", "scipy": "study", "sklearn": "study"}
NAMES = {"sklearn": "scikit-learn"}


def needed(module: str) -> ModuleType:
    """The module, or the command that installs it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ResourceError(
            f"a study needs {NAMES.get(package, package)}, which is not installed: "
            f"pip install 'nungil[{EXTRAS[package]}]'"
        ) from None


def check_extras() -> None:
    """Before any time is spent."""
    for module in ("scipy.stats", "matplotlib.figure"):
        needed(module)
