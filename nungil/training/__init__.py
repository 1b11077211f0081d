"""Training: the loop as an iterator, schedule, losses, checkpoints. Knows no decoding and no scoring."""
