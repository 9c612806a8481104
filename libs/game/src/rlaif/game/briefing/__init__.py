"""What a planner is told of a moment: RAM in, the facts of `rlaif.contracts.briefing` out."""
