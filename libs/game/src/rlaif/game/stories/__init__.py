"""Progress in a game: milestones of the stories."""
