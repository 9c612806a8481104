"""An OpenAI-compatible server in which a simulated expert answers judge prompts, and no model."""
