"""Studies: each claim about attention as a command, with figures, intervals and a picture."""
