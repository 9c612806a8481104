"""Calls to language models behind OpenAI-compatible servers: one call, its errors, its settings.

The only package of the shared library that imports httpx. What may be asked, how often, and what
follows from a failure is for the services to say; `breaker.py` and `pace.py` help them.
"""
