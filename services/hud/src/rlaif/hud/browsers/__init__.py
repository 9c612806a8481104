"""Messages to browsers: outboxes, fan-out and compression."""
