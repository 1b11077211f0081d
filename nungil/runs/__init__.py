"""Whole runs: from a user's files to a trained and scored model. Only here do all stages meet."""
