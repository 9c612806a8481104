"""`rlaif replay-check`: random play of any ROM, captured and replayed."""
