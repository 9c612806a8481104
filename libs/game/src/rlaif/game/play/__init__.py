"""`rlaif-game play`: manual play in a window."""
