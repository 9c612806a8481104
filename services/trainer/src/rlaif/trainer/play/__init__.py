"""Games in episodes: steps, starts, fragments. Knows neither the learner nor the service."""
