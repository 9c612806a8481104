"""Guidance: a language model suggests one button now and then; following it pays a little."""
