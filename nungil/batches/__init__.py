"""Ids to batches: a memory-mapped store, an order that is a pure function, padded batches."""
