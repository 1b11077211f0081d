"""Whole models worked out by hand: NumPy in double precision, from ids and weights, sharing no arithmetic with them."""
