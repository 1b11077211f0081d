"""Hangul as arithmetic, and particles that agree with the last sound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.text.snow.hangul import LEADS, TAILS, VOWELS, attach, compose, decompose, has_batchim, with_tail


@pytest.mark.parametrize(
    ("syllable", "parts"),
    [("가", ("ㄱ", "ㅏ", "")), ("눈", ("ㄴ", "ㅜ", "ㄴ")), ("밟", ("ㅂ", "ㅏ", "ㄼ")), ("힣", ("ㅎ", "ㅣ", "ㅎ"))],
)
def test_a_syllable_falls_apart_and_comes_together(syllable, parts):
    assert decompose(syllable) == parts
    assert compose(*parts) == syllable


@given(st.sampled_from(LEADS), st.sampled_from(VOWELS), st.sampled_from(TAILS))
def test_every_syllable_survives_the_way_there_and_back(lead, vowel, tail):
    assert decompose(compose(lead, vowel, tail)) == (lead, vowel, tail)


def test_what_is_no_syllable_is_refused():
    for letter in ("a", "ㄱ", "", "눈눈"):
        with pytest.raises(ValueError, match="is not one Hangul syllable"):
            decompose(letter)


def test_batchim():
    assert has_batchim("눈")
    assert not has_batchim("배")
    assert with_tail("가", "ㄴ") == "간"
    assert with_tail("길", "") == "기"


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("눈", "눈은 눈이 눈을 눈과 눈으로 눈이다"),
        ("배", "배는 배가 배를 배와 배로 배다"),
        ("밤", "밤은 밤이 밤을 밤과 밤으로 밤이다"),
        ("말", "말은 말이 말을 말과 말로 말이다"),
        ("다리", "다리는 다리가 다리를 다리와 다리로 다리다"),
        ("사과", "사과는 사과가 사과를 사과와 사과로 사과다"),
        ("연필", "연필은 연필이 연필을 연필과 연필로 연필이다"),
        ("칼", "칼은 칼이 칼을 칼과 칼로 칼이다"),
        ("부엌", "부엌은 부엌이 부엌을 부엌과 부엌으로 부엌이다"),
        ("지민", "지민은 지민이 지민을 지민과 지민으로 지민이다"),
    ],
)
def test_particles_agree_with_the_last_sound(word, forms):
    particles = ("은/는", "이/가", "을/를", "과/와", "으로/로", "이다/다")
    assert [attach(word, particle) for particle in particles] == forms.split()


def test_pronouns_change_before_the_nominative_only():
    assert [attach("나", p) for p in ("은/는", "이/가", "을/를", "에게")] == ["나는", "내가", "나를", "나에게"]
    assert [attach("너", p) for p in ("은/는", "이/가", "을/를")] == ["너는", "네가", "너를"]
    assert [attach("그", p) for p in ("은/는", "이/가")] == ["그는", "그가"]


def test_particles_that_never_change():
    assert attach("학교", "에") == "학교에"
    assert attach("도서관", "에서") == "도서관에서"
    assert attach("민수", "의") == "민수의"
