"""When to try again, and how often something may be done: arithmetic on seconds that are passed in.

Standard library only, and no clock.
"""
