"""Learns a reward model from the judges' scores and publishes what passes the gate.

Scores come in by event, observations from the store; a potential Φ goes out as safetensors.
"""
