"""Resources that the exporter keeps between segments: running emulators."""
