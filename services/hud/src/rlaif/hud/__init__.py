"""Live dashboard of the running pipeline: the only service that browsers talk to."""
