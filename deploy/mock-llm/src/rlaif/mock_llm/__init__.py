"""An OpenAI-compatible server that answers judge prompts by rules: a stand-in with no model."""
