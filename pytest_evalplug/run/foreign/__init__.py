"""Runs that other tools wrote, read as ours are; a module for each tool."""
