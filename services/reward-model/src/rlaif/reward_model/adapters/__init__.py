"""What touches the object store."""
