"""How far a game has come: milestones of the stories."""
