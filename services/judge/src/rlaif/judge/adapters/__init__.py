"""What the judge reaches outside itself: the language model routes."""
