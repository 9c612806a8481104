"""A simulated expert on the worlds of our engine, by the records of each (world.json).

It sees the evidence of a segment, as a language model does, and nothing else of the game. It shares
no code with the judge or the game.
"""
