"""The package `ctranslate2`, if installed, and the types it can compute in."""

from types import ModuleType

from nungil.errors import UsageError, did_you_mean

COMPUTES = ("float32", "int8", "int8_float32", "int16", "bfloat16", "float16", "int8_bfloat16", "int8_float16")
DEFAULT = "float32"


def library() -> ModuleType:
    """The package `ctranslate2`."""
    try:
        import ctranslate2
    except ImportError:
        raise UsageError("CTranslate2 is not installed; pip install 'nungil[ct2]'") from None
    found: ModuleType = ctranslate2
    return found


def known_compute(compute: str | None) -> str:
    """A valid type of CTranslate2's weights."""
    if compute is not None and compute not in COMPUTES:
        raise UsageError(f"compute: there is no {compute!r}{did_you_mean(compute, COMPUTES)}")
    return compute or DEFAULT


def possible_compute(compute: str | None) -> str:
    """The same, if this processor supports it."""
    name, possible = known_compute(compute), library().get_supported_compute_types("cpu")
    if name not in possible:
        able = ", ".join(one for one in COMPUTES if one in possible)
        raise UsageError(f"compute {name}: CTranslate2 cannot do that on this processor; it can do {able}")
    return name
