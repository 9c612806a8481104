"""Finding the way: RAM and a target in, the next action out, in a room and between rooms.

Waits for the planner: no service uses it yet.
"""
