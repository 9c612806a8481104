"""What can be done in the game in one go: a macro in, one button a decision step out, and its end.

The one set of options of the game, for planners, exploration and a policy's larger actions. An
option reads RAM alone and presses nothing itself; `option_of` makes one, `PlanExecutor` plays
several, one after the other.
"""
