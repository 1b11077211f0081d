"""For a command with many options: help in sections, and the order of options."""

from typing import Any

import typer
from typer.core import TyperCommand

ORDER = "nungil.order"  # key in a context for the names of options in the order typed


class Sectioned(TyperCommand):
    """A command whose help groups options by their `rich_help_panel`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments first, then a section for each heading, in the order of the options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            line = parameter.get_help_record(ctx)
            if line is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(line)
        for heading, lines in sections.items():
            with formatter.section(heading):
                formatter.write_dl(lines)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Also keep the order of options, which click does not."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        ctx.meta[ORDER] = [parameter.name for parameter in order]
        rest: list[str] = super().parse_args(ctx, args)
        return rest


def typed(context: typer.Context) -> list[str]:
    """The names of the options in the order typed, repeated ones included."""
    return list(context.meta[ORDER])


def typed_options(context: typer.Context) -> dict[str, str]:
    """The options that were typed, as users know them, by name: `as_json` is --json."""
    given = set(typed(context))
    options = (one for one in context.command.params if one.param_type_name == "option")
    return {one.name: one.opts[0] for one in options if one.name is not None and one.name in given}
