"""What judges read and what they and people say about segments."""
