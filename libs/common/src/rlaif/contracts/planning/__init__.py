"""What a planner is asked and what it answers."""
