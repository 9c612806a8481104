"""Evidence about segments for judges."""
