"""Search: from the steps of a model to ids. Knows no text."""
