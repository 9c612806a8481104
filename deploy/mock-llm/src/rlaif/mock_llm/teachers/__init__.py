"""Simulated teachers: judges whose truth and whose mistakes are known, without any model.

They stand behind the mock LLM by setting, and in tests and benchmarks, so that the whole loop can
be judged before anybody pays for a language model.
"""
