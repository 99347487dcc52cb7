"""From a record to a Sample: benchmark metadata, adapters, loading, few-shot, prompts."""
