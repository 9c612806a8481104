"""Scripted planners: what answers a question for a plan or for one button, in place of a model."""
