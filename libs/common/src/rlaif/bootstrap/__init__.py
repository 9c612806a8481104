"""Makes what the services use and may not make themselves: streams, consumers and buckets.

`python -m rlaif.bootstrap` is run before the services, by an administrator of NATS and S3.
"""
