"""A person plays a ROM: in a window where there is one, else in the terminal."""
