"""Which segments of an episode are captured, and how."""
