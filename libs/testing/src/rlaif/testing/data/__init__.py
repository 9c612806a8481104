"""Generated test data: events, captures, segments, scores and answers, valid or invalid."""
