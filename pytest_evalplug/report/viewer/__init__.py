"""Runs in a browser: one page, fed by a file that carries its data or by a local server."""
