"""RLlib's parts in our form: environment runner and learner, and its own to compare with."""
