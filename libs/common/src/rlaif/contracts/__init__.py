"""What crosses a service boundary: events, objects and the names of both.

The floor of the import graph: pydantic and the standard library only.
"""
