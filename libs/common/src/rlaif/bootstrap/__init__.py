"""`python -m rlaif.bootstrap`: creates streams, consumers and buckets before the services."""
