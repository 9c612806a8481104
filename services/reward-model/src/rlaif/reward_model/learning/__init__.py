"""From labels to a candidate: fit, measurements, gate."""
