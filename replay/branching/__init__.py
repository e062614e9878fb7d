"""What would have come of another action: an attempt is repeated up to a step, then goes on."""

from replay.branching.branch import Branched, branch
from replay.branching.errors import BranchError
from replay.branching.words import action_in_words, asked_action

__all__ = ["BranchError", "Branched", "action_in_words", "asked_action", "branch"]
