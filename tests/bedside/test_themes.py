"""The bundled themes keep the promises that a sleeper's own theme must keep."""

import pytest

from bedside.configuration import ConfigurationError, default_toml
from bedside.safety.words import own_words
from bedside.themes import bundled_theme, bundled_themes
from devices.types import PaprikaError

SEED = ("forest", "sea", "cat", "clock", "eating coconut chicken in Hainan")
"""Source: `replay-environment.md`, E4."""


def test_the_five_themes_of_the_seed_are_there_in_its_order() -> None:
    assert tuple(bundled_themes()) == SEED


@pytest.mark.parametrize("name", SEED)
def test_every_line_is_made_of_the_memory_s_own_words(name: str) -> None:
    theme = bundled_theme(name)
    words = own_words(theme.memory, (), theme.name, default_toml("words"))
    assert theme.lines
    assert all(words.said(line) for line in theme.lines)


@pytest.mark.parametrize("name", SEED)
def test_a_sound_is_at_most_twenty_seconds(name: str) -> None:
    assert 0.0 < bundled_theme(name).sound_s <= 20.0


def test_an_unknown_theme_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError) as caught:
        bundled_theme("forrest")
    said = str(caught.value)
    assert isinstance(caught.value, PaprikaError)
    assert "forrest" in said
    assert "did you mean forest?" in said
    assert all(name in said for name in SEED)
    assert "\n" not in said
