"""A simulated expert on the worlds of the built-in engine, based on their records (world.json).

Like a language model, it has no access to the game except the evidence of a segment. It shares no
code with the judge or the game.
"""
