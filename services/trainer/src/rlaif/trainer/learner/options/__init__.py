"""Ways to learn that a setting switches on."""
