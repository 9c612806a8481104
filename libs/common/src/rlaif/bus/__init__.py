"""The event bus: publish events, consume them with a durable worker, send telemetry.

The only package that imports nats.
"""
