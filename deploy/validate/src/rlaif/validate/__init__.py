"""Validates the manifests of deploy/. Reads files and runs kubectl; needs no cluster."""
