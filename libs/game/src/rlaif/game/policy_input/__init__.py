"""The input of a policy besides the 128 numbers of an observation: one row of numbers from RAM."""
