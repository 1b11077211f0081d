"""Serving: models behind an HTTP API. One queue, one worker, many clients."""
