"""Sides of the split and the fit of an ensemble."""
