"""The whole ring on one machine: NATS, S3, a mock LLM and the five services as child processes."""
