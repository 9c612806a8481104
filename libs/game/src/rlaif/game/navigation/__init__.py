"""Finding the way: RAM and a target in, the next action out, in a room and between rooms.

The options of `rlaif.game.options` walk by it.
"""
