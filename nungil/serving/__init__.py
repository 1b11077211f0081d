"""Serving: models behind an address. One queue, one worker, many clients."""
