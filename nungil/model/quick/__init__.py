"""Translators rebuilt for fast search, without eyes. Each computes what its reference model computes."""
