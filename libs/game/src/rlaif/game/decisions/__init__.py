"""What an agent may decide, as numbers: one index space for policy, search and demonstrations.

A decision is played as base steps of four frames, each one of the eight buttons. `DECISIONS` are
all of them, `allowed` says which make sense now, `things` what in the room they can be about,
`carry_out` plays one.
"""
