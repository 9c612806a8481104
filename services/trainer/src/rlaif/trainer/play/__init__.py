"""Games in episodes: steps, starts, fragments. Independent of the learner and the service."""
