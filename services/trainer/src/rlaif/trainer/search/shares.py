"""Shares of the selection rules: fixed, or learned from the results of each rule.

Learned shares are a bandit with Thompson sampling: the rate of new permanent flags per start has a
gamma posterior for each rule, and the rule with the highest sample is used. Evidence is discounted,
because a rule that leads far at one stage of a quest may not at another (Raj and Kalyani 2017,
"Taming non-stationary bandits", arXiv:1707.09727). Every rule keeps a minimum share, so that none
can block another, however wrong the ratings are that it follows.
"""

from collections.abc import Collection, Mapping

import numpy as np

MIN_SHARE = 0.05
HORIZON = 1_000.0
"""Starts after which evidence counts 1/e; about 1.4 million frames."""
FIRST_FLAGS, FIRST_RATE = 8.0, 0.02
"""Prior evidence of the rules, discounted like all evidence: these flags in proportion to the given
shares, at these flags per start. A search finds about 15 within the horizon."""
_PRIOR_FLAGS = 1.0
"""Flags, found at the mean rate of all rules, that each rule is always credited with."""


class Shares:
    """The shares of some rules."""

    def __init__(self, shares: Mapping[str, float], *, learned: bool = False) -> None:
        """`shares` are the rules with their shares, or with what to assume before learning."""
        total = sum(shares.values())
        self._fixed, self._learned = {rule: each / total for rule, each in shares.items()}, learned
        self._starts = dict.fromkeys(shares, FIRST_FLAGS / FIRST_RATE / len(shares))  # discounted
        self._flags = {rule: FIRST_FLAGS * share for rule, share in self._fixed.items()}
        self._used = dict.fromkeys(shares, 0.0)

    def choose(self, usable: Collection[str], rng: np.random.Generator) -> str:
        """Draw a rule; the fixed share of one that is not usable goes to the next."""
        rules = [rule for rule in self._fixed if rule in usable]
        if not self._learned:
            sample = rng.random()
            for rule, share in self._fixed.items():
                if sample < share and rule in usable:
                    return rule
                sample -= share
            return rules[-1]
        if rng.random() < MIN_SHARE * len(rules):
            return rules[int(rng.integers(len(rules)))]
        rate = sum(self._flags.values()) / sum(self._starts.values())
        samples = [
            rng.gamma(self._flags[rule] + _PRIOR_FLAGS) / (self._starts[rule] + _PRIOR_FLAGS / rate)
            for rule in rules
        ]
        return rules[int(np.argmax(samples))]

    def record(self, rule: str, flags: float) -> None:
        """Record the new permanent flags, by weight, that a start chosen by a rule led to."""
        kept = 1.0 - 1.0 / HORIZON
        for each in self._fixed:
            self._starts[each] *= kept
            self._flags[each] *= kept
            self._used[each] *= kept
        self._starts[rule] += 1.0
        self._used[rule] += 1.0
        self._flags[rule] += flags

    @property
    def used(self) -> dict[str, float]:
        """Share of each rule in the starts within the horizon; 0 before the first."""
        total = sum(self._used.values())
        return {rule: starts / total if total else 0.0 for rule, starts in self._used.items()}

    def state_dict(self) -> dict[str, list[float]]:
        return {
            rule: [self._starts[rule], self._flags[rule], self._used[rule]] for rule in self._fixed
        }

    def load_state_dict(self, state: dict[str, list[float]]) -> None:
        for rule in self._fixed.keys() & state.keys():
            self._starts[rule], self._flags[rule], self._used[rule] = state[rule]
