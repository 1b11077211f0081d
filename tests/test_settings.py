"""Settings: one reader, every mistake named at once, each message as users read it."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from nungil.errors import (
    CheckpointError,
    ConfigError,
    CorpusError,
    DivergedError,
    NungilError,
    ResourceError,
    ShapeError,
    StoppedError,
    UsageError,
)
from nungil.settings import Settings, build_settings, read_settings


class Beam(Settings):
    beam_size: int = Field(5, ge=1, le=64, description="Hypotheses kept per sentence.")
    length_penalty: float = Field(0.6, ge=0, description="The α of Wu et al. (2016).")


class Recipe(Settings):
    unit: Literal["word", "character", "unigram"] = "unigram"
    decode: Beam = Beam()
    other: Beam | None = None
    seed: int = 1


@pytest.fixture
def recipe(tmp_path):
    def write(text, name="recipe.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def mistakes_in(path):
    with pytest.raises(ConfigError) as error:
        read_settings(path, Recipe)
    assert str(error.value).startswith(f"{path}:\n- ")
    assert error.value.exit_code == 2
    return list(error.value.mistakes)


def test_reads_yaml_and_json_and_an_empty_file(recipe):
    expected = Recipe(unit="word", decode=Beam(beam_size=3))
    assert read_settings(recipe("unit: word\ndecode: {beam_size: 3}\n"), Recipe) == expected
    assert read_settings(recipe('{"unit": "word", "decode": {"beam_size": 3}}', "r.json"), Recipe) == expected
    assert read_settings(recipe(""), Recipe) == Recipe()
    assert read_settings(recipe(b"\xef\xbb\xbfseed: 4\r\n"), Recipe).seed == 4


def test_names_every_mistake_at_once_and_suggests_the_cure(recipe):
    text = (
        "unit: wrod\nsed: 3\ndecode:\n  beam: 5\n  lenght_penalty: 0.5\n  beam_size: many\n"
        "other: {length_penalty: -1}\n"
    )
    assert mistakes_in(recipe(text)) == [
        "unit: there is no 'wrod'; did you mean word?",
        "[decode] beam_size: a whole number is expected",
        "[decode] beam: no such setting; did you mean beam_size?",
        "[decode] lenght_penalty: no such setting; did you mean length_penalty?",
        "[other] length_penalty: must be at least 0",
        "sed: no such setting; did you mean seed?",
    ]


def test_what_is_not_near_anything_is_shown_what_there_is(recipe):
    assert mistakes_in(recipe("qqq: 1\n")) == ["qqq: no such setting; there is decode, other, seed, unit"]


@pytest.mark.parametrize(
    ("text", "name", "mistake"),
    [
        ("decode: [1, 2\nseed: 1\n", "r.yaml", "line 2, column 5: not YAML: expected ',' or ']', but got ':'"),
        ("a: b: c\n", "r.yaml", "line 1, column 5: not YAML: mapping values are not allowed here"),
        (
            "seed: !!python/object/apply:os.system ['true']\n",
            "r.yaml",
            "line 1, column 7: not YAML: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object/apply:os.system'",
        ),
        ('{"seed": 1,\n "unit": }', "r.json", "line 2, column 10: not JSON: Expecting value"),
        ('{"seed": NaN}', "r.json", "NaN is not a finite number"),
        ("- 1\n- 2\n", "r.yaml", "holds a list where settings (`name: value`) are expected"),
        ("word", "r.yaml", "holds text where settings (`name: value`) are expected"),
        ("decode: {length_penalty: .inf}", "r.yaml", "[decode] length_penalty: a finite number is expected"),
        ("[" * 100_000, "r.json", "nested too deeply"),
        ("seed: 1\nunit: word\nseed: 2\n", "r.yaml", "line 3, column 1: not YAML: seed is given twice"),
        ('{"seed": 1, "seed": 2}', "r.json", "seed: is given twice"),
        ('{"seed": ' + "1" * 5000 + "}", "r.json", "a number has too many digits"),
        ("decode:\n", "r.yaml", "decode: holds nothing where settings (`name: value`) are expected"),
        ("decode: 3", "r.yaml", "decode: holds a number where settings (`name: value`) are expected"),
    ],
)
def test_malformed_files_are_refused_with_line_and_column(recipe, text, name, mistake):
    assert mistakes_in(recipe(text, name)) == [mistake]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "none.yaml", "none.yaml: there is no such file"),
        (lambda folder: folder, ": this is a folder; a file is expected"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, make, message):
    with pytest.raises(CorpusError) as error:
        read_settings(make(tmp_path), Recipe)
    assert str(error.value).endswith(message)
    assert error.value.exit_code == 3


def test_bytes_that_are_no_text(recipe):
    with pytest.raises(CorpusError, match=r"recipe.yaml: not UTF-8 text \(byte 6\)"):
        read_settings(recipe(b"seed: \xff\xfe"), Recipe)


class Square(Settings):
    kind: Literal["square"] = "square"
    side: int = Field(1, ge=1)
    looks: Literal["round", "flat"] = "flat"


class Round(Settings):
    kind: Literal["round"] = "round"
    radius: int = 1
    edge: Beam = Beam()

    @model_validator(mode="after")
    def _is_not_a_point(self) -> "Round":
        if self.radius == 0:
            raise ValueError("radius 0 is a point; choose a larger one")
        return self


Shape = Annotated[Square | Round, Field(discriminator="kind")]


class Drawing(Settings):
    shape: Shape = Square()
    more: tuple[Shape, ...] = ()
    perhaps: Shape | None = None


@pytest.mark.parametrize(
    ("shape", "mistake"),
    [
        ({"kind": "round", "raduis": 3}, "[{}] raduis: no such setting; did you mean radius?"),
        ({"kind": "square", "raduis": 3}, "[{}] raduis: no such setting; there is kind, looks, side"),
        ({"kind": "square", "side": 0}, "[{}] side: must be at least 1"),
        ({"kind": "square", "looks": "rond"}, "[{}] looks: there is no 'rond'; did you mean round?"),
        ({"kind": "round", "edge": {"beam": 2}}, "[{}.edge] beam: no such setting; did you mean beam_size?"),
        ({"kind": "round", "radius": 0}, "{section}{name}: radius 0 is a point; choose a larger one"),
        ({"kind": "rond"}, "[{}] kind: there is no 'rond'; did you mean round?"),
        ({"kind": 3}, "[{}] kind: there is no '3'; there is round, square"),
        ({"side": 3}, "[{}] kind: is missing; there is round, square"),
        (3, "{section}{name}: holds a number where settings (`name: value`) are expected"),
        ("round", "{section}{name}: holds text where settings (`name: value`) are expected"),
    ],
)
def test_a_kind_among_several_is_no_section_of_its_own(shape, mistake):
    places = {
        "shape": ({"shape": shape}, "", "shape"),
        "more.2": ({"more": [{"kind": "round"}, shape]}, "[more] ", "2"),
        "perhaps": ({"perhaps": shape}, "", "perhaps"),
    }
    for place, (loaded, section, name) in places.items():
        with pytest.raises(ConfigError) as error:
            build_settings(loaded, Drawing, "drawing.yaml")
        assert list(error.value.mistakes) == [mistake.format(place, section=section, name=name)]


def test_settings_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        Recipe().seed = 3


def test_the_error_tree_and_its_exit_codes():
    codes = {UsageError: 2, ShapeError: 2, CorpusError: 3, CheckpointError: 4, ResourceError: 5, DivergedError: 6}
    for kind, code in codes.items():
        error = kind("what happened")
        assert isinstance(error, NungilError)
        assert (error.exit_code, str(error)) == (code, "what happened")
    import signal

    assert StoppedError("stopped").exit_code == 130
    assert StoppedError("stopped", signal.SIGTERM).exit_code == 143
