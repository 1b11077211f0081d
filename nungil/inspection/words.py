"""The names of the steps and the sentences around them, in English and in the Korean of the posts."""

from typing import Literal

Language = Literal["en", "ko"]

STEPS: dict[str, tuple[str, str]] = {
    "embedding": ("embedding", "임베딩"),
    "position": ("position", "포지셔널 인코딩"),
    "placed": ("with position", "위치를 더한 임베딩"),
    "length": ("length", "길이"),
    "hidden state": ("hidden state", "은닉 상태"),
    "last state": ("last state", "마지막 은닉 상태"),
    "first state": ("first state", "첫 은닉 상태"),
    "first memory": ("first memory cell", "첫 셀 상태"),
    "fed": ("last feature", "이전 출력 벡터"),
    "cell input": ("what goes in", "셀의 입력"),
    "previous state": ("state before", "이전 은닉 상태"),
    "previous memory": ("memory before", "이전 셀 상태"),
    "reset gate": ("reset gate", "리셋 게이트"),
    "update gate": ("update gate", "업데이트 게이트"),
    "input gate": ("input gate", "입력 게이트"),
    "forget gate": ("forget gate", "망각 게이트"),
    "output gate": ("output gate", "출력 게이트"),
    "candidate": ("candidate", "후보"),
    "memory cell": ("memory cell", "셀 상태"),
    "state": ("hidden state", "은닉 상태"),
    "stream": ("state", "상태"),
    "mean": ("mean", "평균"),
    "variance": ("variance", "분산"),
    "normed": ("normed", "정규화"),
    "weights of heads": ("weights", "어텐션 가중치"),
    "added": ("residual sum", "잔차 합"),
    "inner": ("inner layer", "안쪽 층"),
    "outer": ("outer layer", "바깥 층"),
    "after masked": ("after masked attention", "마스크드 어텐션 다음"),
    "after cross": ("after cross-attention", "크로스 어텐션 다음"),
    "after feed forward": ("after feed-forward", "피드포워드 다음"),
    "mean state": ("mean state", "상태의 평균"),
    "pooled": ("pooled", "풀링"),
    "units won": ("units won", "가장 큰 단위의 수"),
    "count of n-grams": ("n-grams", "n-gram 수"),
    "length of n-grams": ("length of the n-grams", "n-gram 길이"),
    "sum of n-grams": ("sum of the n-grams", "n-gram 합"),
    "logit of n-grams": ("logit of the n-grams", "n-gram 로짓"),
    "logit of the states": ("logit of the states", "상태 로짓"),
    "dense": ("dense layer", "dense 층"),
    "query": ("query", "쿼리"),
    "keys": ("key", "키"),
    "values": ("value", "밸류"),
    "keep": ("kept", "볼 수 있음"),
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
    "input": ("put in", "입력 단어"),
    "words": ("word", "단어"),
    "labels": ("label", "라벨"),
    "heads": ("head", "헤드"),
    "blocks": ("block", "블록"),
    "temperature": ("temperature τ", "온도 τ"),
}
SENTENCES: dict[str, tuple[str, str]] = {
    "title": ("Attention step by step: {mechanism}", "단계별로 보는 어텐션: {mechanism}"),
    "written": (
        "Step {step} of {steps}: after «{put_in}» comes «{chosen}»",
        "{steps}단계 중 {step}단계: «{put_in}» 다음에 «{chosen}»",
    ),
    "read": ("Token {step} of {steps}: where «{word}» looks", "토큰 {steps}개 중 {step}번째: «{word}»에서 보는 곳"),
    "labelled": ("From the text to the label «{chosen}»", "문장에서 라벨 «{chosen}»까지"),
    "head": ("Head {head}", "헤드 {head}"),
    "layer": ("Layer {layer}", "층 {layer}"),
    "looks": ("It looks most at «{token}» ({weight}).", "가장 많이 보는 토큰은 «{token}»입니다 ({weight})."),
    "answers": (
        "The most probable output is «{word}» ({probability}).",
        "가장 확률이 높은 출력은 «{word}»입니다 ({probability}).",
    ),
    "residual": (
        "residual {residual}: the largest difference between these numbers and {against}",
        "residual {residual}: 이 계산과 {against} 출력의 가장 큰 차이",
    ),
    "head looks": (
        "Head {head} of layer {layer} looks most at «{token}» ({weight}).",
        "층 {layer}의 헤드 {head}에서 가장 많이 보는 토큰은 «{token}»입니다 ({weight}).",
    ),
    "other": (
        "The text goes on with «{word}» ({probability}), number {rank} of them.",
        "문장은 «{word}»로 이어집니다 ({probability}, {rank}번째).",
    ),
    "long": (
        "A long vector is shown by its first numbers and its length ‖·‖; --json has every digit.",
        "긴 벡터는 앞의 수 몇 개와 길이 ‖·‖만 보입니다. --json에는 모든 자리가 있습니다.",
    ),
    "model residual": (
        "residual {residual}: the largest difference between these numbers and what the model itself put out, in its "
        "attention weights and its probabilities",
        "residual {residual}: 이 계산과 모델이 실제로 낸 어텐션 가중치, 출력 확률의 가장 큰 차이",
    ),
    "rounding": (
        "That is more than 1e-05. With the model in 64-bit numbers it is {double}: the rest is rounding to 32 bits.",
        "1e-05보다 큽니다. 모델을 64비트로 계산하면 {double}이며, 나머지는 32비트 반올림입니다.",
    ),
    "fault": (
        "That is more than rounding (with the model in 64-bit numbers it is {double}): this page cannot be trusted. "
        "Please report it, with what `nungil info` prints.",
        "반올림 오차보다 큽니다 (64비트로는 {double}). 이 페이지를 믿지 마시고, "
        "`nungil info`의 출력과 함께 알려 주세요.",
    ),
    "numbers": ("… {count} numbers", "… {count}개"),
    "more": ("{count} more", "그 밖의 {count}개"),
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
