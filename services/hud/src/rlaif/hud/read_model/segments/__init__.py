"""Segments: the table, its filters, and the detail page of a segment."""
