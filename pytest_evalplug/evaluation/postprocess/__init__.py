"""Postprocessors: pure functions from a reply's text to the answer in it."""
