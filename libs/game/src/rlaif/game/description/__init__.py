"""A moment in words, numbers and maps, for language models and people."""
