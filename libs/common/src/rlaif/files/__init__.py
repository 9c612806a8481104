"""Files of this machine that appear whole or not at all.

Standard library only.
"""
