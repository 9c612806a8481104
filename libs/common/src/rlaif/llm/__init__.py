"""Routes to language models of OpenAI-compatible servers."""
