"""Real servers as child processes, and what clients need of them."""
