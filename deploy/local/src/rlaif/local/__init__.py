"""The whole pipeline on one machine: NATS, S3, a mock LLM and five services as child processes."""
