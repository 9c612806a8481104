"""Back-off, rate limits and interruptible pauses. Standard library only."""
