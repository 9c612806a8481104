"""A simulated expert: who has read the guide of Seedling Vale and walked its map.

It sees the evidence of a segment, as a language model does, and nothing else of the game. Guide and
map are its own: it shares no code and no data with the judge, nor with the game.
"""
