"""What the exporter holds on to between segments: running emulators."""
