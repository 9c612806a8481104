"""What models pay: shaping by the reward model, curiosity, what each part weighs."""
