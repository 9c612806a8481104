"""An OpenAI-compatible server in which a simulated expert answers prompts instead of a model."""
