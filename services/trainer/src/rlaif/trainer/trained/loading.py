"""Loads what plays, which takes some seconds, when it is needed, and in silence."""

import logging
from collections.abc import Callable


def trial_player() -> Callable[..., None]:
    """`rlaif.trainer.learner.quest_trial.play_trial`, on one core.

    Ray warns of parts of its own that are deprecated; whoever asked for a policy is not meant.
    """
    logging.getLogger("ray._common.deprecation").setLevel(logging.ERROR)
    import torch

    from rlaif.trainer.learner.quest_trial import play_trial

    torch.set_num_threads(1)  # or the processes of a trial fight over the cores
    return play_trial
