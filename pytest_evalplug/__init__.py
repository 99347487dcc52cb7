"""LLM benchmarks as pytest test suites."""
