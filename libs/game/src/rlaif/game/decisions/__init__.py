"""A policy's decisions as numbers: one index space for policy, search and demonstrations.

A decision is played in base steps of four frames, each with one of the eight buttons. `DECISIONS`
lists them, `allowed` masks those that are possible now, `carry_out` plays one.
"""
