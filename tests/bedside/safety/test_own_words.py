# ruff: noqa: RUF001, SIM905 (look-alike characters are what is tested; word lists read better)
"""Own words: what was said passes, in any case and with any pause; nothing else does."""

from __future__ import annotations

import hashlib
import tomllib
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bedside.safety.words import OwnWords, WordsError, function_words, own_words, rewrite

TABLE = tomllib.loads(
    (Path(__file__).parents[3] / "config" / "words.toml").read_text(encoding="utf-8")
)
MEMORY = "I was eating coconut chicken in Hainan, and it was raining. Don't wake grandmother!"
SAID = ("i was eating coconut chicken in hainan and it raining don't wake grandmother").split()
UNSAID = ("steams simmering warm never not you drown fire falling kill mother rain eat").split()
NO_LISTS: dict[str, object] = {"function_words": {}}
HAN_MEMORY = "我在海边的老房子里，听见下雨的声音。"


def own(memory: str | None, *lines: str, theme: str = "", language: str | None = None) -> OwnWords:
    return own_words(memory, lines, theme, TABLE, language=language)


@pytest.mark.parametrize(
    "line",
    [
        "eating coconut chicken in Hainan",
        "EATING COCONUT CHICKEN",
        "chicken, coconut… chicken!",
        "(raining) — “raining” «raining»",
        "the coconut of Hainan",
        "don\u2019t wake grandmother",
        "'coconut' \u2018chicken\u2019",
        "ｃｏｃｏｎｕｔ",
        "coconut\u00a0chicken\tin\u2028Hainan",
        "it-was-raining",
    ],
)
def test_a_line_of_own_words_passes(line: str) -> None:
    assert own(MEMORY).said(line)


@pytest.mark.parametrize(
    "line",
    [
        "steaming coconut chicken",
        "coconut chicken steams",
        "coconuts",
        "coco nut",
        "coconutchicken",
        "do not wake grandmother",
        "dont wake grandmother",
        "con wake",
        "cöconut",
        "coc\u043enut",
        "coco\u200bnut",
        "coconut\u200d",
        "\ufeffcoconut",
        "coconut \u200b chicken",
        "coco\u00adnut",
        "chicken\ufe0f",
        "coconut % chicken",
        "coconut & chicken",
        "chicken@coconut",
        "coconut 🔥",
        "кокос",
        "椰子",
        "chicken \x00",
        "chicken without coconut",
    ],
)
def test_a_line_with_anything_else_does_not_pass(line: str) -> None:
    assert not own(MEMORY).said(line)


@pytest.mark.parametrize("line", ["", " ", "\t\n", "...", "—", "?!", "' '", "''", "\u3000"])
def test_an_empty_line_is_not_said(line: str) -> None:
    assert not own(MEMORY).said(line)
    assert not own(line).said(line)


def test_without_memory_lines_and_theme_nothing_was_said_not_even_function_words() -> None:
    assert own(None) == OwnWords(frozenset())
    assert not own(None).said("the")


def test_words_come_from_memory_approved_lines_and_theme() -> None:
    words = own("rain", "a red kite", theme="Forest")
    assert words.said("forest rain kite red")
    assert not words.said("sea")


@pytest.mark.parametrize("letter", ["café", "cafe\u0301", "CAFÉ", "CAFE\u0301"])
def test_accents_count_and_their_encoding_does_not(letter: str) -> None:
    assert own("café").said(letter)
    assert not own("cafe").said(letter)
    assert not own("café").said("cafe")


def test_case_is_folded_beyond_ascii() -> None:
    assert own("Straße ΟΔΟΣ").said("STRASSE οδος")


def test_a_zero_width_mark_that_the_person_wrote_passes_where_they_wrote_it() -> None:
    persian = "می\u200cخواهم"
    assert own(persian).said(persian)
    assert not own(persian).said(persian.replace("\u200c", ""))


# --- scripts without spaces


@pytest.mark.parametrize("line", ["海边的老房子", "下雨", "老房子，下雨", "海", "的", "听见 下雨"])
def test_a_run_that_is_part_of_something_said_passes(line: str) -> None:
    assert own(HAN_MEMORY).said(line)


@pytest.mark.parametrize(
    "line",
    [
        "海边有人",
        "房子老",
        "老房子下雨",
        "老人",
        "海 人",
        "雨 海",
        "雨、海",
        "雨 老 子 海",
        "海\u200b边",
        "forest海边",
        "海边forest",
        "うみ",
        "海\u0301",
    ],
)
def test_a_run_that_nobody_said_does_not_pass(line: str) -> None:
    assert not own(HAN_MEMORY).said(line)


def test_single_characters_may_be_strung_out_only_as_they_were_said() -> None:
    words = own("海边、猫、山")
    assert words.said("海 边")
    assert words.said("猫 山")
    assert words.said("山、海 边、猫")
    assert not words.said("边 海")
    assert not words.said("边 猫 海 边 海")


def test_single_characters_around_a_longer_run_are_not_strung_together() -> None:
    words = own("听见下雨的声音")
    assert words.said("雨 声音 听")
    assert not words.said("雨 听 声音")


@pytest.mark.parametrize(
    ("memory", "passes", "fails"),
    [
        ("海のねこがカーテンの上で寝ている", "ねこがカーテン", "いぬ"),
        ("ฉันเดินในป่าฝน", "ป่าฝน", "ทะเล"),
        ("ຂ້ອຍຢູ່ໃນປ່າ", "ໃນປ່າ", "ທະເລ"),
        ("ខ្ញុំនៅក្នុងព្រៃ", "ព្រៃ", "សមុទ្រ"),
        ("ကျွန်တော် တောထဲမှာ", "တောထဲ", "ပင်လယ်"),
        ("𠀀𠀁𠀂", "𠀀𠀁", "𠀀𠀂"),
    ],
)
def test_runs_of_other_unspaced_scripts_pass_as_substrings(
    memory: str, passes: str, fails: str
) -> None:
    assert own(memory).said(passes)
    assert not own(memory).said(fails)


UNSPACED = (
    "CJK UNIFIED IDEOGRAPH, CJK COMPATIBILITY IDEOGRAPH, HIRAGANA LETTER, KATAKANA LETTER, "
    "BOPOMOFO LETTER, YI SYLLABLE, THAI CHARACTER, LAO LETTER, TIBETAN LETTER, MYANMAR LETTER, "
    "KHMER LETTER, TAI LE LETTER, NEW TAI LUE LETTER, TAI THAM LETTER, TAI VIET LETTER, "
    "BALINESE LETTER, CHAM LETTER, JAVANESE LETTER"
).split(", ")
LETTERS = [letter for letter in map(chr, range(0x80, 0x32400)) if letter.isalpha()]
SPACED = "LATIN GREEK CYRILLIC HEBREW ARABIC DEVANAGARI HANGUL ETHIOPIC GEORGIAN ARMENIAN".split()


def letters_named(prefix: str) -> list[str]:
    """Letters without case whose Unicode name starts so; of a large script about 300, spread."""
    letters = [
        letter
        for letter in LETTERS
        if unicodedata.name(letter, "").startswith((prefix + " ", prefix + "-"))
    ]
    return letters[:: max(1, len(letters) // 300)]


@pytest.mark.parametrize("prefix", UNSPACED)
def test_every_letter_of_an_unspaced_script_belongs_to_a_run(prefix: str) -> None:
    letters = letters_named(prefix)
    assert letters
    for letter in letters:
        run = unicodedata.normalize("NFKC", letter * 2)
        assert own_words(run, (), "", NO_LISTS).said(run[0]), hex(ord(letter))


@pytest.mark.parametrize("prefix", SPACED)
def test_no_letter_of_a_spaced_script_passes_as_a_part_of_a_word(prefix: str) -> None:
    letters = letters_named(prefix)
    assert letters
    for letter in letters:
        if not unicodedata.normalize("NFKC", letter)[-1].isalpha():
            continue
        assert not own_words(letter * 2, (), "", NO_LISTS).said(letter), hex(ord(letter))


@pytest.mark.parametrize("mark", '., ; : ! ? ( ) [ ] " - ‐ ‒ – — ― “ ” „ ‟ « » ‹ › ¿ ¡'.split())
def test_a_mark_that_nobody_hears_parts_words(mark: str) -> None:
    assert own("red kite").said(f"{mark}red{mark}kite{mark}")


@pytest.mark.parametrize(
    "mark", "、 。 〈 〉 《 》 「 」 『 』 【 】 〔 〕 〖 〗 ・ । ॥ ، ؛ ؟".split()
)
def test_a_mark_of_another_script_parts_words_too(mark: str) -> None:
    assert own("red kite").said(f"{mark}red{mark}kite{mark}")


@pytest.mark.parametrize("mark", "% & @ # * + / \\ _ = $ € § ~ ^ | < > { } ° · † 🔥".split())
def test_a_mark_that_a_voice_may_read_out_is_a_word(mark: str) -> None:
    assert not own("red kite").said(f"red {mark} kite")
    assert not own("red kite").said(f"red{mark}kite")
    assert own(f"red {mark} kite").said(f"kite {mark} red")


def test_hangul_has_spaces_and_is_matched_by_word() -> None:
    assert own("코코넛 치킨").said("치킨")
    assert not own("코코넛 치킨").said("치")


def test_scripts_mixed_in_one_text_are_told_apart() -> None:
    words = own("我喜欢forest的声音")
    assert words.said("forest 声音")
    assert words.said("喜欢forest")
    assert not words.said("fore 声音")


# --- function words


def test_function_words_are_those_of_the_language_the_person_used() -> None:
    assert own("Ich war im Wald mit der Katze").said("die Katze und der Wald")
    assert not own("I was in the forest with a cat").said("die cat")
    assert own("海的声音", theme="山").said("海的声音 和 山")


def test_a_tie_between_languages_leaves_only_what_both_share() -> None:
    words = own("a con")
    assert words.said("al con")
    assert not words.said("el con")
    assert not words.said("il con")


@pytest.mark.parametrize(
    ("language", "passes"),
    [("en", True), ("en-GB", True), ("EN_us", True), ("de", False), ("fi", False)],
)
def test_a_named_language_decides_and_an_unknown_one_adds_nothing(
    language: str, passes: bool
) -> None:
    assert own("cat", language=language).said("the cat") is passes


def test_without_one_function_word_no_language_is_guessed() -> None:
    assert not own("cat").said("the cat")


def test_without_any_list_own_words_are_all_there_is() -> None:
    words = own_words("the cat", (), "", {"function_words": {}})
    assert words == OwnWords(frozenset({"the", "cat"}))


NEVER = {
    "en": "no not never without nor none nothing i you he she it we they me my your is are be do "
    "go come can will must die kill wake stop",
    "zh": "不 没 沒 无 無 别 別 莫 我 你 他 她 它 们 是 有 在 去 来 要 会 上 下 了 着 过",
    "de": "nicht kein keine nie ohne nein ich du er sie es wir ihr mein dein ist bin war sein hat",
    "es": "no nunca sin ni nada yo tú él ella me te se mi tu es son está ser hay va para",
    "fr": "ne pas non sans jamais ni je tu il elle on nous vous me te se mon ton est es ont a en",
    "it": "non no mai senza né io tu lui lei noi voi mi ti si mio tuo è sei sono ha ci ne",
    "pt": "não nao no nunca sem nem eu tu ele ela nós nos vos me te se meu teu é são está há",
    "nl": "niet geen nooit zonder nee ik jij je hij zij ze wij we mijn jouw is ben was heeft er",
}


def test_no_list_holds_a_negation_a_pronoun_or_a_verb() -> None:
    lists = function_words(TABLE)
    assert set(lists) == set(NEVER)
    for language, words in lists.items():
        assert not words & set(NEVER[language].split()), language
        assert 0 < len(words) <= 30


def test_no_list_holds_a_negation_of_another_language() -> None:
    negations = set("no not non nicht ne pas não 不 没 无 niet geen kein sin sans senza".split())
    assert not negations & frozenset().union(*function_words(TABLE).values())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "words.toml: needs a table [function_words] of lists by language"),
        ({"function_words": []}, "words.toml: needs a table [function_words] of lists by language"),
        (
            {"function_words": {"en": "the"}},
            "words.toml: function_words.en must be a list of strings",
        ),
        (
            {"function_words": {"de": ["der", 3]}},
            "words.toml: function_words.de must be a list of strings",
        ),
        (
            {"function_words": {"en": ["the", "of the"]}},
            "words.toml: function_words.en must hold one word an entry",
        ),
        (
            {"function_words": {"en": ["..."]}},
            "words.toml: function_words.en must hold one word an entry",
        ),
    ],
)
def test_a_broken_table_names_its_key(table: dict[str, object], message: str) -> None:
    with pytest.raises(WordsError) as raised:
        own_words("cat", (), "", table)
    assert str(raised.value) == message


def test_function_words_are_normalised_like_everything_else() -> None:
    assert function_words({"function_words": {"fr": ["A\u0300"]}}) == {"fr": frozenset({"à"})}


# --- the rewrite


@pytest.mark.parametrize(
    ("lines", "memory", "instead"),
    [
        (("one", "two"), "a memory", "one"),
        ((), "a memory", "a memory"),
        (("  ", "…", "two"), "a memory", "two"),
        (("",), "a memory", "a memory"),
        ((), None, None),
        ((), "", None),
        ((" ",), " . ", None),
    ],
)
def test_the_rewrite_is_the_first_line_else_the_memory(
    lines: Sequence[str], memory: str | None, instead: str | None
) -> None:
    assert rewrite(lines, memory) == instead


# --- 10,000 generated lines, from a counter and SHA-256: the same on every machine

LOOK_ALIKES = str.maketrans("aceiopxy", "асеіорху")
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u061c\u180e\u200e\u202e\ufe0f"
FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = "\u0300\u0301\u0308\u0327\u0335"
OTHER_LANGUAGES = "nicht el das лес ne für não mit le".split()
FOREIGN = "лес море forêt Wald 森林 うみ ทะเล בית غابة बिल्ली 숲 θάλασσα".split()


class Dice:
    """Choices drawn from SHA-256 of a counter."""

    def __init__(self, seed: int) -> None:
        self._seed, self._drawn = seed, 0

    def below(self, n: int) -> int:
        self._drawn += 1
        digest = hashlib.sha256(f"{self._seed}/{self._drawn}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % n

    def of(self, values: Sequence[str]) -> str:
        return values[self.below(len(values))]

    def cased(self, word: str) -> str:
        return self.of([word, word.upper(), word.title(), word.swapcase()])

    def inside(self, word: str, mark: str) -> str:
        at = 1 + self.below(len(word))
        return word[:at] + mark + word[at:]


def _look_alike(dice: Dice, word: str) -> str:
    changed = word.translate(LOOK_ALIKES)
    return changed if changed != word else dice.of(UNSAID)


SPOILERS: tuple[Callable[[Dice, str], str], ...] = (
    lambda dice, word: dice.of(UNSAID),
    lambda dice, word: dice.of(FOREIGN),
    lambda dice, word: dice.inside(word, dice.of(MARKS)),
    _look_alike,
    lambda dice, word: dice.inside(word, dice.of(ZERO_WIDTH)),
    lambda dice, word: dice.of(ZERO_WIDTH),
    lambda dice, word: word + dice.of(SAID),
    lambda dice, word: word + dice.of(list("szqé7%&@#+*/_🌊")),
    lambda dice, word: dice.of(OTHER_LANGUAGES),
)


def test_none_of_ten_thousand_lines_with_an_unspoken_word_passes() -> None:
    words = own(MEMORY)
    passed = []
    for number in range(10_000):
        dice = Dice(number)
        line = [dice.of(SAID) for _ in range(1 + dice.below(6))]
        spoil = SPOILERS[number % len(SPOILERS)]
        at = dice.below(len(line))
        spoiled = spoil(dice, line[at])
        assert unicodedata.normalize("NFC", spoiled).lower() not in SAID
        line[at] = dice.cased(spoiled)
        text = dice.of([" ", ", ", " … ", "\u00a0"]).join(line)
        if words.said(text):
            passed.append(text)
    assert passed == []


def test_all_of_ten_thousand_lines_of_own_words_pass() -> None:
    words = own(MEMORY)
    refused = []
    for number in range(10_000):
        dice = Dice(-1 - number)
        line = [dice.cased(dice.of(SAID)) for _ in range(1 + dice.below(8))]
        form = FORMS[dice.below(4)]
        text = dice.of([" ", ", ", " … ", "\u00a0", "! ", " — "]).join(line)
        if not words.said(unicodedata.normalize(form, text)):
            refused.append(text)
    assert refused == []


def test_none_of_ten_thousand_runs_with_an_unspoken_character_passes() -> None:
    words = own(HAN_MEMORY)
    runs = HAN_MEMORY.strip("。").split("，")
    passed = []
    for number in range(10_000):
        dice = Dice(number)
        run = dice.of(runs)
        start = dice.below(len(run))
        part = run[start : start + 1 + dice.below(5)]
        spoiled = dice.inside(part, dice.of(list("火死人你不森林\u200b\u0301aあ")))
        line = dice.of(["", " ", "，"]).join([dice.of(["", part]), spoiled])
        if words.said(line):
            passed.append(line)
    assert passed == []


# --- properties


@given(st.text(), st.data())
def test_any_choice_of_what_was_written_passes(memory: str, data: st.DataObject) -> None:
    tokens = memory.split()
    assume(tokens)
    line = " ".join(data.draw(st.lists(st.sampled_from(tokens), min_size=1)))
    assume(any(character.isalnum() for character in line))
    assert own(memory).said(line)


@given(st.text(alphabet="海边猫山雨声", min_size=1), st.data())
def test_every_part_of_a_run_passes_and_no_run_that_is_not_a_part(
    run: str, data: st.DataObject
) -> None:
    part = data.draw(st.text(alphabet="海边猫山雨声", min_size=1, max_size=4))
    assert own(run).said(part) == (part in run)


@given(
    st.lists(st.text(alphabet="abñ", min_size=1, max_size=3)),
    st.lists(st.text(alphabet="abñ", min_size=1, max_size=3), min_size=1),
)
def test_a_line_passes_exactly_when_each_word_was_said(memory: list[str], line: list[str]) -> None:
    words = own(" ".join(memory), language="xx")
    assert words.said(" ".join(line).upper()) == (set(line) <= set(memory))


@given(st.text(), st.text())
def test_no_text_whatever_makes_the_guard_fail(memory: str, line: str) -> None:
    words = own(memory)
    assert words.said(line) in (True, False)
    if not memory.split():
        assert not words.said(line)
