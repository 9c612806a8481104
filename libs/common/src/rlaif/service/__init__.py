"""Settings, command line, web app and lifecycle of a service."""
