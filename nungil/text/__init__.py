"""Text in: files to records, cleaning, splitting, surveying. Knows no torch."""
