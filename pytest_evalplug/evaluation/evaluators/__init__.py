"""Evaluators: what compares preds with references, one idea a module."""
