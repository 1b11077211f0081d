"""The score function of an attention: its settings, and how it is built."""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

from pydantic import Field

from nungil.attention import Additive, Concat, Coverage, Dot, General, LocalM, LocalP, Location, ScaledDot, Score
from nungil.errors import UsageError, did_you_mean
from nungil.settings import Settings

ScoreName = Literal["dot", "scaled-dot", "general", "concat", "additive", "location", "coverage"]
GROUP = "nungil.scores"  # entry points of scores in other packages


class ScoreSettings(Settings):
    """The score function of an attention, and the window laid over it."""

    name: ScoreName = Field("general", description="dot, scaled-dot, general, concat, additive, location or coverage.")
    size: int | None = Field(
        None, ge=1, le=8_192, description="Inner width of concat, additive and coverage; by default that of the keys."
    )
    window: Literal["none", "local-m", "local-p"] = Field(
        "none", description="Look everywhere, or only near the own position (local-m) or a predicted one (local-p)."
    )
    reach: int = Field(10, ge=1, le=1_024, description="Steps that a window reaches to each side; Luong's D.")
    longest: int = Field(
        1_026, ge=1, le=65_536, description="Source positions that location knows; no longer sentence can be read."
    )
    own: str | None = Field(
        None,
        max_length=100,
        description="A score of an installed package, in place of `name`: an entry point of the group nungil.scores.",
    )


_SCORES: dict[ScoreName, Callable[[ScoreSettings, int, int], Score]] = {
    "dot": lambda *_: Dot(),
    "scaled-dot": lambda *_: ScaledDot(),
    "general": lambda _, query, key: General(query, key),
    "concat": lambda chosen, query, key: Concat(query, key, chosen.size or key),
    "additive": lambda chosen, query, key: Additive(query, key, chosen.size or key),
    "location": lambda chosen, query, _: Location(query, chosen.longest),
    "coverage": lambda chosen, query, key: Coverage(query, key, chosen.size or key),
}


def own_scores() -> dict[str, EntryPoint]:
    """The scores of installed packages, by name. Nothing of them is imported yet."""
    return {point.name: point for point in entry_points(group=GROUP)}


def _own_score(name: str, query_size: int, key_size: int) -> Score:
    """The score that the factory of an installed package makes, called with the sizes of query and key."""
    there = own_scores()
    if name not in there:
        known = did_you_mean(name, there) if there else "; none is installed"
        raise UsageError(f"no installed package has a score {name} (entry point group {GROUP}){known}")
    score = there[name].load()(query_size, key_size)
    if not isinstance(score, Score):
        raise UsageError(f"the score {name} of {there[name].value} is no nungil.attention.Score")
    return score


def build_score(settings: ScoreSettings, query_size: int, key_size: int) -> Score:
    """The score, in its window if it has one."""
    if settings.own is not None:
        score = _own_score(settings.own, query_size, key_size)
    else:
        score = _SCORES[settings.name](settings, query_size, key_size)
    if settings.window == "local-m":
        return LocalM(score, settings.reach)
    if settings.window == "local-p":
        return LocalP(score, query_size, settings.reach)
    return score
