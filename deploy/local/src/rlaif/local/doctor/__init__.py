"""Checks the data of the local stack, running or stopped, against the invariants of the pipeline.

I1  every captured segment ends in a score or a dead letter, never in both
I2  one score per segment and judge configuration, one event per score, with its digest
I3  every dead letter has a reason
I4  every object still has its original digest
I5  the champion is a published, usable version, and its activation never decreases
I8  the secrets are readable by their owner only
I9  disk and streams have free space

I6 (training does not wait for the pipeline) and I7 (no stored byte is executed) concern behaviour,
which stored data does not show; tests check them.
"""
