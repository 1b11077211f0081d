"""Korean conjugation against lists that a reader of Korean has gone through form by form."""

import pytest

from nungil.text.snow.adjectives import ADJECTIVES
from nungil.text.snow.doings import ACTIONS
from nungil.text.snow.predicates import Form, verb_group
from nungil.text.snow.verbs import (
    EXIST,
    IDA,
    LACK,
    Verb,
    adnominal,
    infinitive,
    inflect,
    negative,
    past_stem,
    plain,
)

# dictionary form, irregularity, present, past, before 않다, before a noun: present, past, future; with 아/어
VERBS = """
먹다 - 먹는다 먹었다 먹지 먹는 먹은 먹을 먹어
마시다 - 마신다 마셨다 마시지 마시는 마신 마실 마셔
읽다 - 읽는다 읽었다 읽지 읽는 읽은 읽을 읽어
쓰다 - 쓴다 썼다 쓰지 쓰는 쓴 쓸 써
사다 - 산다 샀다 사지 사는 산 살 사
팔다 - 판다 팔았다 팔지 파는 판 팔 팔아
만들다 - 만든다 만들었다 만들지 만드는 만든 만들 만들어
그리다 - 그린다 그렸다 그리지 그리는 그린 그릴 그려
보다 - 본다 봤다 보지 보는 본 볼 봐
씻다 - 씻는다 씻었다 씻지 씻는 씻은 씻을 씻어
청소하다 - 청소한다 청소했다 청소하지 청소하는 청소한 청소할 청소해
열다 - 연다 열었다 열지 여는 연 열 열어
닫다 - 닫는다 닫았다 닫지 닫는 닫은 닫을 닫아
찾다 - 찾는다 찾았다 찾지 찾는 찾은 찾을 찾아
잃어버리다 - 잃어버린다 잃어버렸다 잃어버리지 잃어버리는 잃어버린 잃어버릴 잃어버려
만나다 - 만난다 만났다 만나지 만나는 만난 만날 만나
돕다 ㅂ 돕는다 도왔다 돕지 돕는 도운 도울 도와
부르다 르 부른다 불렀다 부르지 부르는 부른 부를 불러
듣다 ㄷ 듣는다 들었다 듣지 듣는 들은 들을 들어
연주하다 - 연주한다 연주했다 연주하지 연주하는 연주한 연주할 연주해
배우다 - 배운다 배웠다 배우지 배우는 배운 배울 배워
놀다 - 논다 놀았다 놀지 노는 논 놀 놀아
걷다 ㄷ 걷는다 걸었다 걷지 걷는 걸은 걸을 걸어
달리다 - 달린다 달렸다 달리지 달리는 달린 달릴 달려
수영하다 - 수영한다 수영했다 수영하지 수영하는 수영한 수영할 수영해
자다 - 잔다 잤다 자지 자는 잔 잘 자
일하다 - 일한다 일했다 일하지 일하는 일한 일할 일해
공부하다 - 공부한다 공부했다 공부하지 공부하는 공부한 공부할 공부해
쉬다 - 쉰다 쉬었다 쉬지 쉬는 쉰 쉴 쉬어
춤추다 - 춤춘다 춤췄다 춤추지 춤추는 춤춘 춤출 춤춰
노래하다 - 노래한다 노래했다 노래하지 노래하는 노래한 노래할 노래해
울다 - 운다 울었다 울지 우는 운 울 울어
웃다 - 웃는다 웃었다 웃지 웃는 웃은 웃을 웃어
기다리다 - 기다린다 기다렸다 기다리지 기다리는 기다린 기다릴 기다려
바라보다 - 바라본다 바라봤다 바라보지 바라보는 바라본 바라볼 바라봐
가르치다 - 가르친다 가르쳤다 가르치지 가르치는 가르친 가르칠 가르쳐
입다 - 입는다 입었다 입지 입는 입은 입을 입어
타다 - 탄다 탔다 타지 타는 탄 탈 타
운전하다 - 운전한다 운전했다 운전하지 운전하는 운전한 운전할 운전해
고치다 - 고친다 고쳤다 고치지 고치는 고친 고칠 고쳐
깨다 - 깬다 깼다 깨지 깨는 깬 깰 깨
나르다 르 나른다 날랐다 나르지 나르는 나른 나를 날라
밀다 - 민다 밀었다 밀지 미는 민 밀 밀어
던지다 - 던진다 던졌다 던지지 던지는 던진 던질 던져
자르다 르 자른다 잘랐다 자르지 자르는 자른 자를 잘라
굽다 ㅂ 굽는다 구웠다 굽지 굽는 구운 구울 구워
심다 - 심는다 심었다 심지 심는 심은 심을 심어
짓다 ㅅ 짓는다 지었다 짓지 짓는 지은 지을 지어
오르다 르 오른다 올랐다 오르지 오르는 오른 오를 올라
건너다 - 건넌다 건넜다 건너지 건너는 건넌 건널 건너
키우다 - 키운다 키웠다 키우지 키우는 키운 키울 키워
방문하다 - 방문한다 방문했다 방문하지 방문하는 방문한 방문할 방문해
주다 - 준다 줬다 주지 주는 준 줄 줘
보내다 - 보낸다 보냈다 보내지 보내는 보낸 보낼 보내
보여주다 - 보여준다 보여줬다 보여주지 보여주는 보여준 보여줄 보여줘
빌려주다 - 빌려준다 빌려줬다 빌려주지 빌려주는 빌려준 빌려줄 빌려줘
가다 - 간다 갔다 가지 가는 간 갈 가
돌아오다 - 돌아온다 돌아왔다 돌아오지 돌아오는 돌아온 돌아올 돌아와
도착하다 - 도착한다 도착했다 도착하지 도착하는 도착한 도착할 도착해
살다 - 산다 살았다 살지 사는 산 살 살아
머무르다 르 머무른다 머물렀다 머무르지 머무르는 머무른 머무를 머물러
좋아하다 - 좋아한다 좋아했다 좋아하지 좋아하는 좋아한 좋아할 좋아해
사랑하다 - 사랑한다 사랑했다 사랑하지 사랑하는 사랑한 사랑할 사랑해
싫어하다 - 싫어한다 싫어했다 싫어하지 싫어하는 싫어한 싫어할 싫어해
원하다 - 원한다 원했다 원하지 원하는 원한 원할 원해
알다 - 안다 알았다 알지 아는 안 알 알아
기억하다 - 기억한다 기억했다 기억하지 기억하는 기억한 기억할 기억해
잊다 - 잊는다 잊었다 잊지 잊는 잊은 잊을 잊어
내리다 - 내린다 내렸다 내리지 내리는 내린 내릴 내려
녹다 - 녹는다 녹았다 녹지 녹는 녹은 녹을 녹아
쌓이다 - 쌓인다 쌓였다 쌓이지 쌓이는 쌓인 쌓일 쌓여
얼다 - 언다 얼었다 얼지 어는 언 얼 얼어
덮다 - 덮는다 덮었다 덮지 덮는 덮은 덮을 덮어
막다 - 막는다 막았다 막지 막는 막은 막을 막아
치우다 - 치운다 치웠다 치우지 치우는 치운 치울 치워
밟다 - 밟는다 밟았다 밟지 밟는 밟은 밟을 밟아
뜨다 - 뜬다 떴다 뜨지 뜨는 뜬 뜰 떠
감다 - 감는다 감았다 감지 감는 감은 감을 감아
비비다 - 비빈다 비볐다 비비지 비비는 비빈 비빌 비벼
깜빡이다 - 깜빡인다 깜빡였다 깜빡이지 깜빡이는 깜빡인 깜빡일 깜빡여
가리다 - 가린다 가렸다 가리지 가리는 가린 가릴 가려
치료하다 - 치료한다 치료했다 치료하지 치료하는 치료한 치료할 치료해
깎다 - 깎는다 깎았다 깎지 깎는 깎은 깎을 깎아
까다 - 깐다 깠다 까지 까는 깐 깔 까
따다 - 딴다 땄다 따지 따는 딴 딸 따
줍다 ㅂ 줍는다 주웠다 줍지 줍는 주운 주울 주워
모으다 - 모은다 모았다 모으지 모으는 모은 모을 모아
삶다 - 삶는다 삶았다 삶지 삶는 삶은 삶을 삶아
숨기다 - 숨긴다 숨겼다 숨기지 숨기는 숨긴 숨길 숨겨
떨어지다 - 떨어진다 떨어졌다 떨어지지 떨어지는 떨어진 떨어질 떨어져
익다 - 익는다 익었다 익지 익는 익은 익을 익어
가라앉다 - 가라앉는다 가라앉았다 가라앉지 가라앉는 가라앉은 가라앉을 가라앉아
항해하다 - 항해한다 항해했다 항해하지 항해하는 항해한 항해할 항해해
떠나다 - 떠난다 떠났다 떠나지 떠나는 떠난 떠날 떠나
수리하다 - 수리한다 수리했다 수리하지 수리하는 수리한 수리할 수리해
싣다 ㄷ 싣는다 실었다 싣지 싣는 실은 실을 실어
문지르다 르 문지른다 문질렀다 문지르지 문지르는 문지른 문지를 문질러
누르다 르 누른다 눌렀다 누르지 누르는 누른 누를 눌러
찌르다 르 찌른다 찔렀다 찌르지 찌르는 찌른 찌를 찔러
긁다 - 긁는다 긁었다 긁지 긁는 긁은 긁을 긁어
두드리다 - 두드린다 두드렸다 두드리지 두드리는 두드린 두드릴 두드려
주무르다 르 주무른다 주물렀다 주무르지 주무르는 주무른 주무를 주물러
핥다 - 핥는다 핥았다 핥지 핥는 핥은 핥을 핥아
다치다 - 다친다 다쳤다 다치지 다치는 다친 다칠 다쳐
뻗다 - 뻗는다 뻗었다 뻗지 뻗는 뻗은 뻗을 뻗어
구부리다 - 구부린다 구부렸다 구부리지 구부리는 구부린 구부릴 구부려
들다 - 든다 들었다 들지 드는 든 들 들어
오다 - 온다 왔다 오지 오는 온 올 와
지나가다 - 지나간다 지나갔다 지나가지 지나가는 지나간 지나갈 지나가
끝나다 - 끝난다 끝났다 끝나지 끝나는 끝난 끝날 끝나
빗기다 - 빗긴다 빗겼다 빗기지 빗기는 빗긴 빗길 빗겨
묶다 - 묶는다 묶었다 묶지 묶는 묶은 묶을 묶어
뛰어넘다 - 뛰어넘는다 뛰어넘었다 뛰어넘지 뛰어넘는 뛰어넘은 뛰어넘을 뛰어넘어
믿다 - 믿는다 믿었다 믿지 믿는 믿은 믿을 믿어
이해하다 - 이해한다 이해했다 이해하지 이해하는 이해한 이해할 이해해
반복하다 - 반복한다 반복했다 반복하지 반복하는 반복한 반복할 반복해
오해하다 - 오해한다 오해했다 오해하지 오해하는 오해한 오해할 오해해
인용하다 - 인용한다 인용했다 인용하지 인용하는 인용한 인용할 인용해
번역하다 - 번역한다 번역했다 번역하지 번역하는 번역한 번역할 번역해
따르다 - 따른다 따랐다 따르지 따르는 따른 따를 따라
건설하다 - 건설한다 건설했다 건설하지 건설하는 건설한 건설할 건설해
파괴하다 - 파괴한다 파괴했다 파괴하지 파괴하는 파괴한 파괴할 파괴해
칠하다 - 칠한다 칠했다 칠하지 칠하는 칠한 칠할 칠해
무너지다 - 무너진다 무너졌다 무너지지 무너지는 무너진 무너질 무너져
받아들이다 - 받아들인다 받아들였다 받아들이지 받아들이는 받아들인 받아들일 받아들여
거절하다 - 거절한다 거절했다 거절하지 거절하는 거절한 거절할 거절해
기대하다 - 기대한다 기대했다 기대하지 기대하는 기대한 기대할 기대해
요구하다 - 요구한다 요구했다 요구하지 요구하는 요구한 요구할 요구해
"""
# dictionary form, irregularity, past, before 않다, before a noun
ADJECTIVE_FORMS = """
젊다 - 젊었다 젊지 젊은
친절하다 - 친절했다 친절하지 친절한
행복하다 - 행복했다 행복하지 행복한
슬프다 - 슬펐다 슬프지 슬픈
피곤하다 - 피곤했다 피곤하지 피곤한
용감하다 - 용감했다 용감하지 용감한
똑똑하다 - 똑똑했다 똑똑하지 똑똑한
유명하다 - 유명했다 유명하지 유명한
바쁘다 - 바빴다 바쁘지 바쁜
부유하다 - 부유했다 부유하지 부유한
가난하다 - 가난했다 가난하지 가난한
정직하다 - 정직했다 정직하지 정직한
솔직하다 - 솔직했다 솔직하지 솔직한
부지런하다 - 부지런했다 부지런하지 부지런한
귀엽다 ㅂ 귀여웠다 귀엽지 귀여운
크다 - 컸다 크지 큰
작다 - 작았다 작지 작은
예쁘다 - 예뻤다 예쁘지 예쁜
아름답다 ㅂ 아름다웠다 아름답지 아름다운
길다 - 길었다 길지 긴
짧다 - 짧았다 짧지 짧은
빠르다 르 빨랐다 빠르지 빠른
느리다 - 느렸다 느리지 느린
뜨겁다 ㅂ 뜨거웠다 뜨겁지 뜨거운
차갑다 ㅂ 차가웠다 차갑지 차가운
춥다 ㅂ 추웠다 춥지 추운
따뜻하다 - 따뜻했다 따뜻하지 따뜻한
달콤하다 - 달콤했다 달콤하지 달콤한
맛있다 - 맛있었다 맛있지 맛있는
신선하다 - 신선했다 신선하지 신선한
짜다 - 짰다 짜지 짠
무겁다 ㅂ 무거웠다 무겁지 무거운
가볍다 ㅂ 가벼웠다 가볍지 가벼운
비싸다 - 비쌌다 비싸지 비싼
싸다 - 쌌다 싸지 싼
깨끗하다 - 깨끗했다 깨끗하지 깨끗한
더럽다 ㅂ 더러웠다 더럽지 더러운
조용하다 - 조용했다 조용하지 조용한
어둡다 ㅂ 어두웠다 어둡지 어두운
밝다 - 밝았다 밝지 밝은
빨갛다 ㅎ 빨갰다 빨갛지 빨간
파랗다 ㅎ 파랬다 파랗지 파란
하얗다 ㅎ 하얬다 하얗지 하얀
노랗다 ㅎ 노랬다 노랗지 노란
까맣다 ㅎ 까맸다 까맣지 까만
재미있다 - 재미있었다 재미있지 재미있는
지루하다 - 지루했다 지루하지 지루한
튼튼하다 - 튼튼했다 튼튼하지 튼튼한
넓다 - 넓었다 넓지 넓은
좁다 - 좁았다 좁지 좁은
높다 - 높았다 높지 높은
부드럽다 ㅂ 부드러웠다 부드럽지 부드러운
가늘다 - 가늘었다 가늘지 가는
정중하다 - 정중했다 정중하지 정중한
진실하다 - 진실했다 진실하지 진실한
강하다 - 강했다 강하지 강한
두껍다 ㅂ 두꺼웠다 두껍지 두꺼운
위험하다 - 위험했다 위험하지 위험한
중요하다 - 중요했다 중요하지 중요한
필요하다 - 필요했다 필요하지 필요한
"""
# What does not change, or is no predicate here: before a noun.
ATTRIBUTIVES = {
    "new": "새", "old": "늙은", "old-thing": "낡은", "old-text": "오래된", "late": "늦은", "little": "어린",
    "round": "둥근",
}  # fmt: skip


def rows(table):
    return [line.split() for line in table.strip().splitlines()]


def verb_of(dictionary, irregular, describes=False):
    return Verb(dictionary, irregular.replace("-", ""), describes)


@pytest.mark.parametrize("row", rows(VERBS), ids=lambda row: row[0])
def test_every_verb_of_the_lexicon(row):
    dictionary, irregular, present, past, denied, *before_nouns, joined = row
    verb = verb_of(dictionary, irregular)
    assert plain(verb, "present") == present
    assert plain(verb, "past") == past
    assert negative(verb, "present", "final") == (denied, "않는다")
    assert negative(verb, "past", "final") == (denied, "않았다")
    assert [adnominal(verb, tense) for tense in ("present", "past", "future")] == before_nouns
    assert infinitive(verb) == joined


@pytest.mark.parametrize("row", rows(ADJECTIVE_FORMS), ids=lambda row: row[0])
def test_every_adjective_of_the_lexicon(row):
    dictionary, irregular, past, denied, before_noun = row
    verb = verb_of(dictionary, irregular, describes=True)
    assert plain(verb, "present") == dictionary
    assert plain(verb, "past") == past
    assert negative(verb, "present", "final") == (denied, "않다")
    assert negative(verb, "past", "final") == (denied, "않았다")
    assert adnominal(verb, "present") == before_noun


def test_the_lists_leave_nothing_out():
    listed = {verb_of(*row[:2]) for row in rows(VERBS)}
    listed |= {verb_of(*row[:2], describes=True) for row in rows(ADJECTIVE_FORMS)}
    used = {action.korean for action in ACTIONS} | {a.verb for a in ADJECTIVES.values() if a.verb}
    assert used == listed
    assert {key: a.attributive for key, a in ADJECTIVES.items() if a.verb is None} == ATTRIBUTIVES


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        (Verb("가다"), "갔고 갔지만 간다고 갔다고"),
        (Verb("먹다"), "먹었고 먹었지만 먹는다고 먹었다고"),
        (Verb("듣다", "ㄷ"), "들었고 들었지만 듣는다고 들었다고"),
        (Verb("만들다"), "만들었고 만들었지만 만든다고 만들었다고"),
        (Verb("춥다", "ㅂ", describes=True), "추웠고 추웠지만 춥다고 추웠다고"),
    ],
)
def test_endings_between_clauses(verb, forms):
    found = [inflect(verb, "past", "and"), inflect(verb, "past", "but")]
    found += [inflect(verb, "present", "quote"), inflect(verb, "past", "quote")]
    assert [form for (form,) in found] == forms.split()


def test_endings_in_the_present():
    assert inflect(Verb("읽다"), "present", "and") == ("읽고",)
    assert inflect(Verb("좋아하다"), "present", "but") == ("좋아하지만",)


def test_the_future_is_two_words():
    assert inflect(Verb("돕다", "ㅂ"), "future", "final") == ("도울", "것이다")
    assert inflect(Verb("먹다"), "future", "and") == ("먹을", "것이고")
    assert inflect(Verb("살다"), "future", "but") == ("살", "것이지만")
    assert inflect(Verb("짓다", "ㅅ"), "future", "quote") == ("지을", "것이라고")
    assert negative(Verb("가다"), "future", "final") == ("가지", "않을", "것이다")


def test_be_have_and_lack():
    assert plain(EXIST, "present") == "있다"
    assert plain(LACK, "past") == "없었다"
    assert adnominal(EXIST, "present") == "있는"
    assert adnominal(LACK, "present") == "없는"
    assert past_stem(IDA) == "이었"
    assert past_stem(Verb("아니다", describes=True)) == "아니었"
    assert plain(Verb("되다"), "past") == "됐다"
    assert plain(Verb("모르다", "르"), "past") == "몰랐다"


@pytest.mark.parametrize(
    ("base", "english", "korean"),
    [
        ("eat", "did not eat", "먹지 않았다"),
        ("remember", "did not remember", "기억하지 못했다"),
        ("find", "did not find", "찾지 못했다"),
        ("know", "did not know", "몰랐다"),
        ("need", "did not need", "필요하지 않았다"),
    ],
)
def test_what_is_not_willed_is_denied_with_a_verb_of_its_own(base, english, korean):
    action = next(action for action in ACTIONS if action.base == base)
    found = verb_group(action, Form("past", negative=True), "final", third=True, first=False)
    assert (" ".join(found.english), " ".join(found.korean)) == (english, korean)


@pytest.mark.parametrize(
    ("modal", "first", "english", "korean"),
    [
        ("can", True, "can eat", "먹을 수 있다"),
        ("must", True, "must eat", "먹어야 한다"),
        ("want", True, "want to eat", "먹고 싶다"),
        ("want", False, "wants to eat", "먹고 싶어 한다"),
    ],
)
def test_modal_verbs(modal, first, english, korean):
    action = next(action for action in ACTIONS if action.base == "eat")
    found = verb_group(action, Form("present", modal=modal), "final", third=not first, first=first)
    assert (" ".join(found.english), " ".join(found.korean)) == (english, korean)
