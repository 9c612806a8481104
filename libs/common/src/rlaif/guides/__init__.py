"""The players' guides: what a language model reads of a game before it judges or plans.

One page a game, for judges and planners alike. Standard library only.
"""
