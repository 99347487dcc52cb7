"""The pytest plugin (in the making)."""
