"""Text in: files to records, clean and told apart; tokenizers; the embedded corpus. Knows no torch."""
