"""Search: from a model's steps to ids. Knows no text."""
