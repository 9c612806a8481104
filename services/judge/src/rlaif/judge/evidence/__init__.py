"""What a judge may know of a segment."""
