"""What was published: the registry, comparison, and whether the champion is being gamed."""
