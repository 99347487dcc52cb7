"""The run directory: configuration snapshot, journal, predictions, results."""
