"""Model backends, one file each, behind one small protocol."""
