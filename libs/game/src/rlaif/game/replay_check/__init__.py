"""Does a ROM replay to the same RAM? Any Game Boy ROM in, a table of findings out."""
