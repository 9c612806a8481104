"""A person plays a ROM in a window; what was pressed can be recorded and replayed."""
