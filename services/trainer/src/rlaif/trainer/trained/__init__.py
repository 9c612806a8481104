"""Commands for a trained policy: evaluate it, watch it, film it."""
