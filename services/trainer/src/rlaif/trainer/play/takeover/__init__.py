"""Takeovers: when a planner may play instead of the policy, and for how long (ADR 0023)."""
