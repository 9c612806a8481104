"""Makes a policy of what a search found: starts that move back along its ways, and imitation."""
