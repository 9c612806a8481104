"""Encoders from RAM to observations: the plain reference, and a compiled one for play."""
