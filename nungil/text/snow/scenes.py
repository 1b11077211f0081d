"""Where and when: places with the preposition English wants, and times with the tense they go with."""

from dataclasses import dataclass

from nungil.text.snow.hangul import attach
from nungil.text.snow.pieces import Piece, word


@dataclass(frozen=True, eq=False)  # compared by identity, as nouns are
class Place:
    """A place: its name in both languages, and what English says before it when one is there."""

    english: str
    korean: str
    at: str
    article: bool = True


# at/in/on, English, Korean; a star: no article.
_PLACES = """
at school* 학교
at home* 집
in library 도서관
in park 공원
at market 시장
at hospital 병원
in kitchen 부엌
in garden 정원
at bakery 빵집
at cafe 카페
at restaurant 식당
at bookstore 서점
at museum 박물관
at office 사무실
on farm 농장
on beach 해변
at station 역
in village 마을
in city 도시
in forest 숲
in field 들판
in bathroom 욕실
at theater 극장
at harbor 항구
on island 섬
at hotel 호텔
in stable 마구간
in classroom 교실
on street 거리
in playground 놀이터
at gym 체육관
at factory 공장
at lake 호수
in room 방
at airport 공항
"""
PLACES: dict[str, Place] = {}
for _line in _PLACES.strip().splitlines():
    _at, _english, _korean = _line.split()
    _name = _english.rstrip("*")
    PLACES[_name] = Place(_name, _korean, _at, article=not _english.endswith("*"))


def place_phrase(place: Place, particle: str, preposition: str) -> Piece:
    """`in the library` ↔ 도서관에서: the particle absorbs the preposition and the article."""
    if place.article:
        links = ((0, 0, False), (1, 0, False), (2, 0, True))
        return Piece((preposition, "the", place.english), (attach(place.korean, particle),), links)
    if preposition == "to" and place.english == "home":
        return word("home", attach(place.korean, particle))
    return Piece((preposition, place.english), (attach(place.korean, particle),), ((0, 0, False), (1, 0, True)))


def _times(table: str) -> tuple[Piece, ...]:
    """`in:p0 the:p0 morning:0 = 아침에`: each English word says which Korean word it goes with, and how surely."""
    found = []
    for line in table.strip().splitlines():
        left, _, right = line.partition(" = ")
        english, links = [], []
        for number, part in enumerate(left.split()):
            name, _, target = part.partition(":")
            english.append(name)
            links += [(number, int(one.lstrip("p")), not one.startswith("p")) for one in target.split(",")]
        found.append(Piece(tuple(english), tuple(right.split()), tuple(links)))
    return tuple(found)


TIMES: dict[str, tuple[Piece, ...]] = {
    "past": _times("""
yesterday:0 = 어제
this:0 morning:1 = 오늘 아침에
yesterday:0 morning:1 = 어제 아침에
last:0 week:0 = 지난주에
last:0 weekend:1 = 지난 주말에
last:0 month:0 = 지난달에
last:0 Saturday:1 = 지난 토요일에
on:p0 Monday:0 = 월요일에
on:p0 Friday:0 = 금요일에
in:p0 the:p0 morning:0 = 아침에
in:p0 the:p0 afternoon:0 = 오후에
in:p0 the:p0 evening:0 = 저녁에
two:0 days:0 ago:1 = 이틀 전에
three:0 days:0 ago:1 = 사흘 전에
a:p0 week:0 ago:1 = 일주일 전에
"""),
    "future": _times("""
tomorrow:0 = 내일
tomorrow:0 morning:1 = 내일 아침에
tomorrow:0 evening:1 = 내일 저녁에
next:0 week:1 = 다음 주에
next:0 weekend:1 = 다음 주말에
next:0 month:1 = 다음 달에
next:0 Saturday:1 = 다음 토요일에
on:p0 Sunday:0 = 일요일에
on:p0 Tuesday:0 = 화요일에
this:0 afternoon:1 = 오늘 오후에
this:0 evening:1 = 오늘 저녁에
"""),
    "present": _times("""
every:0 day:0 = 매일
every:0 morning:1 = 매일 아침
every:0 evening:1 = 매일 저녁
every:0 weekend:0 = 주말마다
every:0 Sunday:0 = 일요일마다
every:0 Wednesday:0 = 수요일마다
in:p0 the:p0 morning:0 = 아침에
in:p0 the:p0 evening:0 = 저녁에
"""),
}
SHORT_PAST = tuple(piece for piece in TIMES["past"] if len(piece.english) <= 2)
OFTEN = (word("often", "자주"), word("always", "항상"), word("sometimes", "가끔"), word("usually", "보통"))
MANNERS = {
    name: word(name, korean)
    for name, korean in {
        "slowly": "천천히", "quickly": "빨리", "quietly": "조용히", "carefully": "조심스럽게", "happily": "즐겁게",
        "well": "잘", "loudly": "크게", "together": "함께", "alone": "혼자", "hard": "열심히",
    }.items()
}  # fmt: skip
