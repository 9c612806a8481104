"""Live readings on plain NATS, and the figures in them."""
