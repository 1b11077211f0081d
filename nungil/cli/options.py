"""Options that several verbs share."""

from nungil.errors import UsageError


def two_columns(text: str | None) -> tuple[str, ...]:
    """`en,ko` as two names; nothing as none."""
    if text is None:
        return ()
    if text.count(",") != 1:
        raise UsageError("--columns takes two, by name or by number: --columns en,ko or --columns 2,3")
    return tuple(name.strip() for name in text.split(","))
