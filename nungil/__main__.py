"""`python -m nungil`."""

from nungil.cli.main import main

if __name__ == "__main__":  # a spawned process imports this file too, and must not run the command again
    main()
