"""Chance: the seed of everything that is drawn comes from numbers that are known. Knows no torch."""

import hashlib


def seed_of(*numbers: int) -> int:
    """One seed from many numbers, spread well: neighbours have nothing in common."""
    digest = hashlib.blake2b(" ".join(map(str, numbers)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
