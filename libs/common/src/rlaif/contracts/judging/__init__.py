"""Inputs and outputs of judges, and human reviews of segments."""
