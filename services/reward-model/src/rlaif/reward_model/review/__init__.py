"""Human review of pairs of segments: selection, votes, and agreement with the judges."""
