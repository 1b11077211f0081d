"""Training: a step iterator one can see through, schedule, losses, checkpoints. Knows no decoding and no scoring."""
