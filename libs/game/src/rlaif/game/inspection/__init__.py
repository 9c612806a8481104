"""`rlaif-game inspect`: what a file is, and what the memory map reads in it."""
