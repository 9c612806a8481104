"""The planner: asks language models for plans and buttons, and makes nobody wait for them."""
