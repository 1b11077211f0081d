"""The map in a terminal: exact lines, Korean widths, narrow windows, no colour where there is none."""

import io

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from nungil.errors import UsageError
from nungil.inspection.drawings.heatmap import print_map, print_picture
from nungil.inspection.picture import Picture
from nungil.inspection.pictures import describe_sums
from nungil.inspection.record import AttentionMap, AttentionRecord

SOURCE = ["<sos>", "I", "like", "snow", "<eos>"]
TARGET = ["나는", "좋아한다", "<eos>"]
WEIGHTS = [[0.0, 0.95, 0.05, 0.0, 0.0], [0.001, 0.249, 0.25, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]


def drawn(record, width=100, colour=None, **chosen):
    text = io.StringIO()
    print_map(record, Console(file=text, width=width, color_system=colour, force_terminal=colour is not None), **chosen)
    return text.getvalue()


def test_rows_are_target_words_and_cells_hold_hundredths():
    assert drawn(AttentionRecord.from_matrix(WEIGHTS, SOURCE, TARGET)).splitlines() == [
        "cross attention · layer 0",
        "",
        "         <sos>    I like snow <eos>",
        "    나는       ██95 ░░ 5",
        "좋아한다     · ▒▒25 ▒▒25 ▓▓50",
        "   <eos>                       █100",
        "",
        "Reading: row t is the word being output; each row sums to 1.",
        "Merging: none: tokens as the model has them.",
        "Numbers: hundredths; ░ from 5, ▒ from 25, ▓ from 50, █ from 75; · rounds to 0, blank is 0.",
    ]


def test_shade_and_number_of_a_cell_agree_at_every_border():
    borders = [0.0, 1e-9, 0.005, 0.0051, 0.0449, 0.0451, 0.2449, 0.245, 0.2451, 0.4951, 0.7451, 0.995, 1.0]
    record = AttentionRecord.from_matrix([[weight] for weight in borders], ["s"], [f"{place}" for place in range(13)])
    cells = [line[3:] for line in drawn(record).splitlines()[3:16]]
    assert cells == ["", "   ·", "   ·", "   1", "   4", "░░ 5", "░░24", "░░24", "▒▒25", "▓▓50", "██75", "█100", "█100"]


def test_what_is_piped_has_no_colour_and_a_terminal_has():
    record = AttentionRecord.from_matrix(WEIGHTS, SOURCE, TARGET)
    assert "\x1b" not in drawn(record)
    assert "\x1b" in drawn(record, colour="truecolor")


def ground(red, green, blue):
    return f"48;2;{red};{green};{blue}m"


def test_true_colour_gives_each_cell_its_ground_and_keeps_its_number():
    record = AttentionRecord.from_matrix([[0.0, 1.0], [0.4, 0.6]], ["a", "b"], ["c", "d"])
    lines = drawn(record, colour="truecolor").splitlines()
    none, full, part, more = (248, 250, 252), (12, 44, 94), (145, 184, 226), (81, 137, 198)
    assert lines[3] == (
        f"c \x1b[38;2;23;33;43;{ground(*none)}    \x1b[0m \x1b[1;38;2;255;255;255;{ground(*full)}100 \x1b[0m"
    )
    assert lines[4] == (
        f"d \x1b[38;2;23;33;43;{ground(*part)} 40 \x1b[0m \x1b[1;38;2;23;33;43;{ground(*more)} 60 \x1b[0m"
    )
    assert lines[-1].startswith(f"Colours: 0 \x1b[38;2;23;33;43;{ground(*none)} \x1b[0m")
    assert lines[-1].endswith(f"{ground(*full)} \x1b[0m 1")
    assert "░" not in "".join(lines)


def test_blocks_stand_where_colours_cannot_or_may_not(monkeypatch):
    record = AttentionRecord.from_matrix(WEIGHTS, SOURCE, TARGET)
    assert "██" in drawn(record, colour="standard")
    assert "██" not in drawn(record, colour="256")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "██" in drawn(record, colour="truecolor")
    assert "48;2" not in drawn(record, colour="truecolor")


def test_signed_numbers_have_their_sign_and_a_scale_that_is_told():
    picture = Picture(
        "difference", ("a",), ("b", "c", "d"), np.array([[-1.5, 0.75, 0.0]]), ("Lens: raw.",), signed=True
    )
    text = io.StringIO()
    print_picture(picture, Console(file=text, width=100, color_system=None))
    assert text.getvalue().splitlines() == [
        "difference",
        "",
        "     b    c    d",
        "a █-75 ▒▒38",
        "",
        "Lens: raw.",
        "Numbers: hundredths of 2; ░ from 5, ▒ from 25, ▓ from 50, █ from 75; · rounds to 0, blank is 0.",
    ]


@pytest.mark.parametrize("width", [30, 60, 97])
@pytest.mark.parametrize("long", ["눈", "눈길을걷는사람들이", "extraordinarily", "a" * 300, "e\u0301te\u0301", "❄️"])
def test_every_line_of_a_block_is_as_wide_as_the_others_and_fits(width, long):
    S, T = 13, 4
    source = [f"w{place}" if place % 3 else long for place in range(S)]
    record = AttentionRecord.from_matrix(np.full((T, S), 1 / S), source, ["국경의", "긴", "터널을", "b"])
    lines = drawn(record, width).split("Reading")[0].splitlines()[2:]
    blocks = [block.splitlines() for block in "\n".join(lines).strip("\n").split("\n\n")]
    assert sum(block[-1].count("8") for block in blocks) == S
    for block in blocks:
        rows = block[-T:]
        assert {cell_len(row) for row in rows} == {max(map(cell_len, block))}
        assert max(map(cell_len, block)) <= width
    widths = [cell_len(block[-1]) for block in blocks]
    assert max(widths) - min(widths) <= 18 or len(blocks) == 1


def test_a_long_token_stands_whole_where_there_is_room():
    record = AttentionRecord.from_matrix([[0.2, 0.3, 0.5]], ["the", "yesterday", "눈길을걷는"], ["t"])
    for width in (27, 100):
        assert drawn(record, width).splitlines()[2:4] == [
            "   the yesterday 눈길을걷는",
            "t ░░20      ▒▒30       ▓▓50",
        ]


def test_a_long_token_goes_on_below_in_even_lines_and_ends_right_above_its_cells():
    record = AttentionRecord.from_matrix([[0.2, 0.3, 0.5]], ["the", "yesterday", "눈길을걷는"], ["t"])
    assert drawn(record, 26).splitlines()[2:5] == [
        "       yeste 눈길을",
        "   the  rday   걷는",
        "t ░░20  ▒▒30   ▓▓50",
    ]


def test_words_that_were_looked_at_most_are_marked_in_short_texts_too():
    for row, said in (([0.9, 0.1], "«a» b"), ([0.6, 0.4], "a b"), ([0.62, 0.38, 0.0], "«a» b c"), ([1.0], "a")):
        pooled = AttentionMap("pooling", 0, np.array([[row]]))
        assert drawn(AttentionRecord(["a", "b", "c"][: len(row)], ["snow"], [pooled])).splitlines()[2] == said


def test_jamo_that_stand_alone_have_a_width_and_can_be_seen():
    tokens = ["ᄂ", "ᅮ", "ᆫ", "ᆻ", "ᆬ", "▁", "나ᄂ"]  # conjoining: a vowel or a final one has no width by itself
    text = drawn(AttentionRecord.from_matrix(np.full((7, 7), 1 / 7), tokens, tokens))
    assert text.splitlines()[2] == "       ㄴ   ㅜ   ㄴ   ㅆ   ㄵ    ▁ 나ㄴ"
    assert [line.split()[0] for line in text.splitlines()[3:10]] == ["ㄴ", "ㅜ", "ㄴ", "ㅆ", "ㄵ", "▁", "나ㄴ"]


def test_tokens_are_text_and_never_markup_or_escapes():
    text = drawn(AttentionRecord.from_matrix([[0.5, 0.5]], ["[red]x[/red]", "\x1b[31m\n"], ["[bold]"]))
    assert "[red]x[/" in text
    assert "[bold]" in text
    assert "\x1b" not in text
    assert "\\x1b[31m" in text


def test_a_head_a_layer_and_a_kind_can_be_chosen():
    eye = np.eye(2)
    maps = [AttentionMap("self", 0, np.stack([eye, eye[::-1]])), AttentionMap("cross", 3, np.full((1, 1, 2), 0.5))]
    record = AttentionRecord(["a", "b"], ["c"], maps)
    assert drawn(record).splitlines()[0] == "cross attention · layer 3"
    first = drawn(record, kind="self", layer=0, head=1).splitlines()
    assert first[0] == "self attention · layer 0 · head 1"
    assert first[3:5] == ["a      █100", "b █100"]
    assert "row t is the source word that looks" in drawn(record, kind="self")
    assert drawn(record, kind="self").splitlines()[0] == "self attention · layer 0 · mean over 2 heads"
    with pytest.raises(UsageError, match="no head 2"):
        drawn(record, kind="self", head=2)


def test_sums_are_told_as_they_are():
    assert describe_sums(np.array([[0.5, 0.5], [1.0, 0.0]])) == "each row sums to 1"
    assert describe_sums(np.array([[0.5, 0.25], [0.5, 0.0]])) == "rows do not sum to 1, but to 0.50 … 0.75"
    assert describe_sums(np.array([[0.5, 0.25]])) == "rows do not sum to 1, but to 0.75"
    pale = AttentionRecord.from_matrix([[0.25, 0.75]], ["I", "<eos>"], ["나는"]).without_marks()
    assert "rows do not sum to 1, but to 0.25." in drawn(pale)


def test_a_classifier_shows_its_text_and_bars():
    weights = np.array([[[0.125, 0.625, 0.0, 0.25]]])
    record = AttentionRecord(["not", "나쁘지", "at", "all"], ["positive"], [AttentionMap("pooling", 0, weights)])
    assert drawn(record).splitlines()[2:8] == [
        "not «나쁘지» at all",
        "",
        "   not  0.125  " + "█" * 6,
        "나쁘지  0.625  " + "█" * 30,
        "    at  0.000",
        "   all  0.250  " + "█" * 12,
    ]
    assert "the one row is the whole text" in drawn(record)
