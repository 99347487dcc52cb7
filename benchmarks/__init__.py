"""The shipped benchmarks, a module each."""
