"""Routes to language models behind OpenAI-compatible servers.

`openai` makes one call, `route` adds limits, retries, a cache and a circuit breaker, and `probing`
decides whether a failure is that of the server or of the request.
"""
