"""Text in: files to records, and the embedded corpus."""
