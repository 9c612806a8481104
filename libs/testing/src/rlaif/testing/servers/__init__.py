"""Real servers as child processes, and helpers for clients."""
