"""From metrics to a table."""
