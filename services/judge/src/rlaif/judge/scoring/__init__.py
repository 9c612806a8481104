"""From the event of an exported segment to its stored and published score."""
