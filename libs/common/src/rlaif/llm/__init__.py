"""Calls to language models behind OpenAI-compatible servers: one call, its errors, its settings.

The shared library imports httpx here and in `rlaif.service.peers` alone. What may be asked, how
often, and what follows from a failure is for the services to say; `breaker.py` and `pace.py` help
them.
"""
