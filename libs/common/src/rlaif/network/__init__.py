"""Network addresses."""
