"""Networks of the learner and the runners, and their layers."""
