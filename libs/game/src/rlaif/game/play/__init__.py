"""`rlaif play`: manual play in a window."""
