"""The planner: asks language models for plans and buttons without blocking the environments."""
