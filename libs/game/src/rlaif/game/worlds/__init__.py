"""Generated worlds: new cartridges on the engine of the embedded game, drawn from a seed."""
