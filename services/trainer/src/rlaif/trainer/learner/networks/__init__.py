"""Networks and parts of them, as the learner and the runners build them."""
