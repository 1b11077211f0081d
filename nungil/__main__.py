"""`python -m nungil`."""

from nungil.cli.main import main

main()
