"""Help in sections: a verb with many options shows them by what they are for."""

from typing import Any

from typer.core import TyperCommand


class Sectioned(TyperCommand):
    """A command whose options stand under the heading that each has as its `rich_help_panel`."""

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
