"""Help of a language model during play: planner override (takeover) and guidance."""
