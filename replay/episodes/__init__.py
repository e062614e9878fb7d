"""Many sessions of one person in a row: talk, night, morning, and what is learnt from them."""

from replay.episodes.chain import (
    Episode,
    EpisodeError,
    EpisodePlan,
    EpisodeSpec,
    plan_episode,
    run_episode,
)
from replay.episodes.digest_rule import DigestRule
from replay.episodes.memory import EpisodeMemory, MemoryState, WakingMemory
from replay.episodes.scripted import Morning, MorningReport, ScriptedMorning, ScriptedTalk, Talk
from replay.episodes.seen import SeenCue, SeenNight

__all__ = [
    "DigestRule",
    "Episode",
    "EpisodeError",
    "EpisodeMemory",
    "EpisodePlan",
    "EpisodeSpec",
    "MemoryState",
    "Morning",
    "MorningReport",
    "ScriptedMorning",
    "ScriptedTalk",
    "SeenCue",
    "SeenNight",
    "Talk",
    "WakingMemory",
    "plan_episode",
    "run_episode",
]
