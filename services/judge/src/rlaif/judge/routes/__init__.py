"""Calls to language models: ports, pace, retries, breaker, health."""
