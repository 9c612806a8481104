"""Events, objects and names shared by services.

The lowest layer of the import graph: needs pydantic and the standard library only.
"""
