"""RAM in, observation out: the plain encoder, and the compiled one of play."""
