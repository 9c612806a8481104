"""OpenTelemetry spans."""
