"""What a judge may know of a segment: read, checked and boiled down."""
