"""Whole runs: from a user's files to a trained, scored model. The only place where the stages meet."""
