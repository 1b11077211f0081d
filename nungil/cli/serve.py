"""`nungil serve`: models behind an address, with a page to look through."""

from typing import Annotated

import typer

from nungil.cli.talk import say, write


def serve(
    folders: Annotated[list[str], typer.Argument(metavar="DIR...", help="Model folders, or name=DIR.")],
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 takes any that is free.")] = 8080,
) -> None:
    """Serve models: a page to look through, and an interface for programs.

    \b
    nungil serve runs/demo
    nungil serve runs/demo runs/reviews --port 9000
    """
    import uvicorn

    from nungil.serving.app import build
    from nungil.serving.limits import Limits
    from nungil.serving.shelf import Shelf, books_of

    app = build(Shelf.load(books_of(folders)), Limits())
    write(f"nungil is serving at http://127.0.0.1:{port}")
    say("Next: open it in a browser")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
