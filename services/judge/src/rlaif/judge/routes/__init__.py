"""What is made of calls to language models: retries, caches, health, and whom to blame."""
