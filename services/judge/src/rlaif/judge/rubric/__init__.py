"""The floor: who judges what, and how ballots become one score."""
