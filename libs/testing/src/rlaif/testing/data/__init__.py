"""Made data: events, captures, segments, scores and answers, valid or broken on purpose."""
