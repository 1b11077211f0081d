"""The command line: thin, lazy and polite."""
