"""The whole pipeline on one machine: NATS, a mock LLM and five services as child processes."""
