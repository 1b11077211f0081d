"""Looking: what attention did, in numbers that are checked."""
