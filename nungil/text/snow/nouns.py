"""Nouns: people, animals and things, each with the adjectives that can describe it and the counter that counts it."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, eq=False)  # compared by identity: nouns are keys of every cache
class Noun:
    """A noun in both languages. No plural: it is not counted. A sense: its Korean is a homonym."""

    english: str
    plural: str
    korean: str
    kind: str
    counter: str
    adjectives: tuple[str, ...]
    sense: str = ""


# Korean words that mean several things; the English word names the sense.
HOMONYMS = {
    "눈": ("snow", "eye"),
    "배": ("pear", "ship", "belly"),
    "밤": ("night", "chestnut"),
    "말": ("horse", "words"),
    "다리": ("bridge", "leg"),
    "사과": ("apple", "apology"),
}

# english plural korean [adjectives …]; a plural of `-` is regular, `0` means not counted, `only` always plural.
PEOPLE = """
man men 남자 old young tired
woman women 여자 young tired
teacher - 선생님 young
doctor - 의사 young famous
nurse - 간호사 young
student - 학생 clever tired diligent
farmer - 농부 old young diligent poor
cook - 요리사 young famous
baker - 제빵사 old young
singer - 가수 young famous
painter - 화가 old young poor famous
writer - 작가 young poor famous
soldier - 군인 young brave tired
carpenter - 목수 old young honest diligent
fisherman fishermen 어부 old young poor
captain - 선장 old young brave
driver - 운전사 young tired
lawyer - 변호사 young busy rich
scientist - 과학자 young famous
guest - 손님 rich tired
neighbor - 이웃 kind rich
"""
YOUNGSTERS = """
child children 아이 clever happy brave
boy - 소년 little clever brave kind
girl - 소녀 little clever brave kind
"""
BABIES = "baby babies 아기 cute"
KIN = """
mother - 어머니
father - 아버지
grandmother - 할머니
grandfather - 할아버지
uncle - 삼촌
aunt - 이모
brother - 남동생
sister - 여동생
friend - 친구
"""
NAMES = """
Minsu 민수
Junho 준호
Jimin 지민
Hyunwoo 현우
Jina 지나
Yuna 유나
Suji 수지
Eunyoung 은영
Sujin 수진
"""
ANIMALS = """
dog - 개 big small cute white black clever
cat - 고양이 big small cute white black
rabbit - 토끼 small cute white
squirrel - 다람쥐 small cute
bird - 새 small pretty blue yellow
duck - 오리 small white
cow - 소 big
pig - 돼지 big small
bear - 곰 big
fox foxes 여우 clever small
goat - 염소 white
"""
FRUIT = """
orange - 오렌지 big sweet fresh
strawberry strawberries 딸기 red sweet fresh
peach peaches 복숭아 sweet fresh delicious
tomato tomatoes 토마토 red fresh
banana - 바나나 yellow sweet
grape - 포도 sweet fresh
"""
FOOD = """
bread 0 빵 fresh warm soft delicious
meat 0 고기 fresh expensive
cheese 0 치즈 salty expensive
rice 0 밥 warm delicious
soup 0 국 hot warm salty delicious
fish 0 생선 fresh
cookie - 쿠키 sweet delicious small
cake - 케이크 big sweet delicious
egg - 달걀 fresh
potato potatoes 감자 big small
carrot - 당근 fresh
chocolate 0 초콜릿 sweet expensive
"""
DRINKS = """
water 0 물 clean
milk 0 우유 fresh warm
coffee 0 커피 hot warm delicious
juice 0 주스 sweet fresh
"""
TEXTS = """
book - 책 new old-text interesting thick boring
letter - 편지 old-text long short
newspaper - 신문 old-text
novel - 소설 new long interesting famous boring
poem - 시 short beautiful sad famous
magazine - 잡지 new old-text interesting
story stories 이야기 interesting sad long short
diary diaries 일기 old-text
"""
CLOTHES = """
hat - 모자 new old-thing pretty red black
coat - 외투 new old-thing warm expensive black
shirt - 셔츠 new clean white blue
skirt - 치마 new pretty long red
sweater - 스웨터 new warm soft
"""
THINGS = """
bag - 가방 new old-thing big small heavy light expensive
umbrella - 우산 new old-thing big yellow
key - 열쇠 small
watch watches 시계 new old-thing expensive
camera - 카메라 new old-thing expensive
lamp - 램프 small bright
chair - 의자 new old-thing sturdy small
table - 식탁 big new old-thing
box boxes 상자 big small heavy light
cup - 컵 clean dirty pretty
plate - 접시 clean dirty big white
doll - 인형 pretty small cute
ball - 공 big small
gift - 선물 small expensive
flower - 꽃 pretty beautiful yellow red
picture - 그림 beautiful famous old-text
ring - 반지 beautiful expensive
wallet - 지갑 new old-thing black
map - 지도 old-text big
"""
VEHICLES = """
car - 자동차 new old-thing fast expensive clean
bicycle - 자전거 new old-thing red blue cheap
truck - 트럭 big new old-thing
train - 기차 fast
bus buses 버스
"""
OPENINGS = """
door - 문 big heavy narrow
window - 창문 big small dirty
"""
INSTRUMENTS = """
piano - 피아노 new old-thing expensive
guitar - 기타 new old-thing cheap
violin - 바이올린 new expensive
"""
ARTS = """
song - 노래 beautiful sad new famous
movie - 영화 sad interesting new boring
music 0 음악 beautiful sad quiet
"""
ROOMS = """
room - 방 clean dirty big small dark
kitchen - 부엌 clean dirty small
bathroom - 욕실 clean dirty small
classroom - 교실 clean dirty quiet
office - 사무실 big small quiet
stable - 마구간 old-thing dirty
"""
BUILT = """
house - 집 new old-text big small beautiful
wall - 벽 high white thick
fence - 울타리 high white
tree - 나무 big small
road - 길 narrow wide dangerous
mountain - 산 high beautiful dangerous
river - 강 wide long
sea - 바다 wide blue
roof - 지붕 red high
grass 0 풀 fresh soft
rain 0 비 cold warm
wind 0 바람 cold warm strong
leaf leaves 나뭇잎 yellow red
star - 별 bright beautiful
"""
SENSES = """
snow 0 눈 white cold
eye - 눈 big
pear - 배 sweet fresh delicious
ship - 배 big fast old-thing
belly bellies 배 round soft
night - 밤 long dark cold-weather quiet
chestnut - 밤 sweet delicious small
horse - 말 fast white black
words only 말 kind warm sad honest-words
bridge - 다리 old-thing narrow wide sturdy
leg - 다리 short thin
apple - 사과 red sweet fresh delicious
apology apologies 사과 late polite sincere honest-words short
"""

COUNTERS = {"people": "명", "youngsters": "명", "animals": "마리"}
OWN_COUNTERS = {
    name: counter
    for counter, names in {
        "권": "book magazine novel", "통": "letter", "편": "poem movie", "곡": "song", "대": "car bicycle truck camera",
        "송이": "flower", "그루": "tree", "척": "ship", "마리": "horse",
        "개": "hat bag umbrella key chair box cup plate doll ball orange peach tomato banana strawberry cookie egg "
        "potato carrot pear apple chestnut",
    }.items()
    for name in names.split()
}  # fmt: skip


def _noun(line: str, kind: str) -> Noun:
    english, plural, korean, *adjectives = line.split()
    shown = {"-": english + "s", "0": "", "only": "words"}.get(plural, plural)
    counter = COUNTERS.get(kind, OWN_COUNTERS.get(english, ""))
    sense = english if english in HOMONYMS.get(korean, ()) else ""
    return Noun(english, shown, korean, kind, counter, tuple(adjectives), sense)


TABLES = {
    "people": PEOPLE, "youngsters": YOUNGSTERS, "babies": BABIES, "kin": KIN, "animals": ANIMALS, "fruit": FRUIT,
    "food": FOOD, "drinks": DRINKS, "texts": TEXTS, "clothes": CLOTHES, "things": THINGS, "vehicles": VEHICLES,
    "openings": OPENINGS, "instruments": INSTRUMENTS, "arts": ARTS, "rooms": ROOMS, "built": BUILT, "senses": SENSES,
}  # fmt: skip
KINDS: dict[str, tuple[Noun, ...]] = {
    kind: tuple(_noun(line, kind) for line in table.strip().splitlines()) for kind, table in TABLES.items()
}
KINDS["names"] = tuple(
    Noun(english, "", korean, "names", "", ()) for english, korean in map(str.split, NAMES.strip().splitlines())
)
NOUNS: dict[str, Noun] = {noun.english: noun for nouns in KINDS.values() for noun in nouns}
# The same English word with another Korean one, beside some verbs: one crosses a 길, but builds a 도로.
BESIDE_VERBS = {"road-built": replace(NOUNS["road"], korean="도로")}


def listed(names: str) -> tuple[str, ...]:
    """The names in a line of them."""
    return tuple(names.split())


def nouns_of(names: str) -> tuple[Noun, ...]:
    """The nouns meant by a list such as `@fruit apple -egg`: kinds, single words, and words taken out again."""
    found: list[Noun] = []
    for name in names.split():
        if name.startswith("@"):
            found += KINDS[name[1:]]
        elif name.startswith("-"):
            found.remove(NOUNS[name[1:]])
        else:
            found.append(BESIDE_VERBS.get(name) or NOUNS[name])
    return tuple(found)
