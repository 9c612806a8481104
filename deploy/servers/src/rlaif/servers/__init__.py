"""How a NATS server and an S3 server are run on one machine, from wheels."""
