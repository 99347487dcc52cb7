"""Whatever happens to a run, what was computed is kept: each fault is really injected."""
