"""Traces in the sense of OpenTelemetry: what belongs to one segment, or to one request.

Only OpenTelemetry's API is needed; its SDK, where it is installed, records the spans.
"""
