"""The names of the steps and the sentences around them, in English and in the Korean of the posts."""

from typing import Literal

Language = Literal["en", "ko"]

STEPS: dict[str, tuple[str, str]] = {
    "query": ("query", "쿼리"),
    "keys": ("key", "키"),
    "values": ("value", "밸류"),
    "keep": ("kept", "실제 토큰"),
    "projected query": ("projected query", "투영한 쿼리"),
    "projected keys": ("projected key", "투영한 키"),
    "projected values": ("projected value", "투영한 밸류"),
    "joined": ("joined", "이어 붙임"),
    "projected": ("projected", "투영"),
    "tanh": ("tanh", "tanh"),
    "coverage": ("coverage", "커버리지"),
    "covered": ("projected coverage", "투영한 커버리지"),
    "dot product": ("dot product", "내적"),
    "score": ("score", "어텐션 스코어"),
    "shifted": ("shifted score", "옮긴 스코어"),
    "centre, inside": ("centre, inside", "중심, 안쪽"),
    "centre, outside": ("centre, outside", "중심, 바깥쪽"),
    "centre": ("centre", "창의 중심"),
    "window": ("in window", "창 안"),
    "exp": ("exp", "지수 (exp)"),
    "sum of exp": ("sum of exp", "지수의 합"),
    "sum of weight": ("sum of weights", "가중치의 합"),
    "weight": ("weight", "어텐션 가중치"),
    "bell": ("bell", "종 모양"),
    "sum of local weight": ("sum of weights", "가중치의 합"),
    "local weight": ("local weight", "지역 가중치"),
    "weighted": ("weight × value", "가중치 × 밸류"),
    "context": ("context vector (weighted sum)", "컨텍스트 벡터 (가중합)"),
    "cooled weights": ("weights", "어텐션 가중치"),
    "cooled context": ("context vector", "컨텍스트 벡터"),
    "joined heads": ("heads joined", "이어 붙인 헤드"),
    "output": ("output", "출력"),
    "concat": ("concat", "연결 (concat)"),
    "attentional state": ("attentional state", "tanh 층의 출력"),
    "logit": ("logit", "로짓"),
    "exp logit": ("exp", "지수 (exp)"),
    "sum of exp logit": ("sum of exp", "지수의 합"),
    "sum of probability": ("sum", "합"),
    "probability": ("probability", "출력 확률"),
}
AXES: dict[str, tuple[str, str]] = {
    "source": ("token", "토큰"),
    "words": ("word", "단어"),
    "temperature": ("temperature τ", "온도 τ"),
}
SENTENCES: dict[str, tuple[str, str]] = {
    "title": ("Attention step by step: {mechanism}", "단계별로 보는 어텐션: {mechanism}"),
    "head": ("Head {head}", "헤드 {head}"),
    "looks": ("It looks most at «{token}» ({weight}).", "가장 많이 보는 토큰은 «{token}»입니다 ({weight})."),
    "answers": (
        "The most probable output is «{word}» ({probability}).",
        "가장 확률이 높은 출력은 «{word}»입니다 ({probability}).",
    ),
    "residual": (
        "residual {residual}: the largest difference between these numbers and {against}",
        "residual {residual}: 이 계산과 {against} 출력의 가장 큰 차이",
    ),
    "sum": ("Σ", "Σ"),
}


def name_of(step: str, language: Language) -> str:
    """The name of a step, as a column heading."""
    return STEPS[step][language == "ko"]


def axis_of(axis: str, language: Language) -> str:
    """What the rows of a table are."""
    return AXES[axis][language == "ko"]


def sentence(key: str, language: Language, **parts: object) -> str:
    """A sentence with its parts put in."""
    return SENTENCES[key][language == "ko"].format(**parts)
