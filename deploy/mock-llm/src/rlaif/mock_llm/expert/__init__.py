"""A simulated expert on Seedling Vale: its guide and its map.

It sees the evidence of a segment, as a language model does, and nothing else of the game. It shares
no code and no data with the judge or the game.
"""
