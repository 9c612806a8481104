"""Files of a run, and messages between the service and its training process."""
