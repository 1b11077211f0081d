"""Drawings: a picture in a terminal, as SVG, PNG or PDF; every head as small multiples."""
