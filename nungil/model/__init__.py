"""Models that learn: encoders, recurrent and Transformer translators, classifiers."""
