"""Trains a policy from search results: start states along demonstrations, and imitation."""
