"""Events, telemetry and durable workers over NATS JetStream."""
