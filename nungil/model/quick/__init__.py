"""The same models for searching only: as fast as they can be, and with nothing to see. Each equals its reference."""
