"""Handles events of exported segments; stores and publishes scores."""
