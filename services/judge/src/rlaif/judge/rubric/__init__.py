"""The judges and their criteria, and the aggregation of votes into scores."""
