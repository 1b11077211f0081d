"""`nungil serve`: models behind an HTTP API, with a web page."""

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nungil.cli.talk import say, write
from nungil.errors import UsageError

if TYPE_CHECKING:
    from nungil.serving.keys import Keys
    from nungil.serving.server import Address


def serve(
    folders: Annotated[list[str], typer.Argument(metavar="DIR", help="Model folders; name=DIR gives one a name.")],
    port: Annotated[int, typer.Option(min=0, max=65_535, metavar="N", help="0 takes any that is free.")] = 8080,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="One that others can reach needs keys.")] = "127.0.0.1",
    key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A key per line; every request then needs one.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Serve without keys on an address that others can reach.")
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A host name of this machine; may be repeated.")
    ] = None,
    deadline: Annotated[
        float, typer.Option(min=0.1, max=3_600, metavar="S", help="Seconds within which a request must be answered.")
    ] = 30.0,
    queue_tokens: Annotated[
        int, typer.Option(min=1, metavar="N", help="Source tokens that may wait; further requests are refused.")
    ] = 50_000,
    batch_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Source tokens of a batch.")] = 2_048,
) -> None:
    """Serve models: a web page, and an HTTP API.

    \b
    nungil serve runs/demo
    nungil serve runs/demo reviews=runs/second --port 9000
    nungil serve runs/demo --host 0.0.0.0 --key-file keys.txt --name translate.example.org
    """
    _refuse_open(host, key_file, insecure)
    library()
    from nungil.serving.desk import Desk
    from nungil.serving.keys import Keys
    from nungil.serving.limits import Limits
    from nungil.serving.server import Address, run
    from nungil.serving.shelf import books_of

    limits = Limits(deadline=deadline, waiting=queue_tokens, batch=batch_tokens)
    keys = Keys() if key_file is None else Keys.read(key_file)

    def ready(address: "Address") -> None:
        write(f"nungil is serving at {address.url}")
        say(_next(address, keys))

    answered = run(books_of(folders), Desk(limits, keys), Address(host, port, tuple(name or ())), ready)
    say("Stopped; all accepted requests were answered." if answered else "Stopped; some requests were not answered.")


def library() -> None:
    """Check that the packages for serving are installed."""
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import python_multipart  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UsageError(f"serving needs {error.name}, which is not installed; pip install 'nungil[serve]'") from None


def _refuse_open(host: str, key_file: Path | None, insecure: bool) -> None:
    """Refuse to open an address that others can reach, unless keys or --insecure were given."""
    if key_file is not None or insecure or host == "localhost":
        return
    try:
        own = ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = False
    if not own:
        raise UsageError(
            f"--host {host}: others could ask there too; give them keys (--key-file FILE), "
            "or say that anybody may ask (--insecure)"
        )


def _next(address: "Address", keys: "Keys") -> str:
    key = "-H 'Authorization: Bearer KEY' " if keys else ""
    return (
        f"Next: open {address.url} in a browser\n"
        f"      curl {key}{address.url}/v1/models\n"
        "Ctrl-C, or SIGTERM, stops it when all waiting requests are answered."
    )
