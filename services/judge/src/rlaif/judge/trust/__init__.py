"""Accuracy of the judges: control questions, exclusion, statistics, and the token budget."""
