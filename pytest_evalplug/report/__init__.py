"""What a person sees: terminal, JUnit."""
