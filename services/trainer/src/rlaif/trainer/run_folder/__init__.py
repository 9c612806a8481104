"""What lies between service and training process: a run's files and their messages."""
