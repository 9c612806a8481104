"""When to try again, how often something may be done, and waits that can be cut short.

Standard library only.
"""
