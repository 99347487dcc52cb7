"""A language model as judge: asking it, keeping what it said, reading its verdict."""
