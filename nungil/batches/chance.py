"""Chance: every seed is derived from known numbers. Knows no torch."""

import hashlib


def seed_of(*numbers: int) -> int:
    """One seed from several numbers, by a hash: neighbouring numbers give unrelated seeds."""
    digest = hashlib.blake2b(" ".join(map(str, numbers)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
