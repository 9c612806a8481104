"""Motion in a room: terrain, where each step leads, first steps to a goal, and the room graph."""
