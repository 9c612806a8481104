"""Live dashboard of the running ring: the only service that browsers talk to."""
