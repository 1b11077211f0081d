"""nungil: train attention models, run them, and see exactly where they look."""

__version__ = "0.1.0"
