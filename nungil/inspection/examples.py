"""Worked examples, small enough to follow with a pencil: a decoder's first step, a soft dictionary, each mechanism."""

from dataclasses import dataclass
from typing import Any

from nungil.errors import UsageError, did_you_mean
from nungil.inspection.numbers import FeedForward, Numbers, Output

SNOW = ["<sos>", "I", "like", "snow", "<eos>"]
KOREAN = ["나는", "눈을", "좋아한다", "<eos>"]


@dataclass(frozen=True)
class Example:
    """Numbers with a sentence, in English and in Korean, on what they show."""

    english: str
    korean: str
    numbers: Numbers


# Encoder states of "I like snow" and the decoder's first state, which is most like that of "I"; W_s has a row per word.
STATES = [[0.1, 0.0, 0.2], [1.0, 0.2, 0.0], [0.0, 1.0, 0.5], [0.3, 0.0, 1.0], [0.2, 0.2, 0.2]]
STATE = [2.0, 0.5, 0.0]
WORDS = Output(
    W_s=[[2, 0, 0, 1, 0, 0], [0, 0, 2, 0, 0, 1], [0, 2, 0, 0, 1, 0], [-1, 0, 0, -1, 0, 0]],
    words=KOREAN,
)
NARROW = [[1.0, 0.0], [0.5, 1.0], [0.0, 1.0]]
THREE = ["I", "like", "snow"]
HEADS: dict[str, Any] = {
    "mechanism": "multi-head",
    "heads": 2,
    "parameters": {
        "W_q": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        "W_k": [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        "W_v": [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        "W_o": [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1]],
    },
}
SENTENCE: dict[str, Any] = {
    "tokens": THREE,
    "query": [0, 1, 1, 0],
    "keys": [[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0]],
}
WEATHER: dict[str, Any] = {
    "tokens": ["snow", "rain", "sun"],
    "keys": [[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]],
    "values": [[-3.0], [8.0], [24.0]],
}

EXAMPLES: dict[str, Example] = {
    "attention": Example(
        "The decoder is about to write its first word. Where in «I like snow» does it look, and what comes of it?",
        "디코더가 첫 단어를 쓰려 합니다. «I like snow»의 어디를 보고, 어떤 단어가 나올까요?",
        Numbers(tokens=SNOW, query=STATE, keys=STATES, output=WORDS),
    ),
    "tanh": Example(
        "The same look, with Luong's layer tanh(W_c [c; h_d]) before the output.",
        "같은 어텐션에, 출력 앞에 Luong의 tanh(W_c [c; h_d]) 층을 더했습니다.",
        Numbers(
            tokens=SNOW,
            query=STATE,
            keys=STATES,
            output=Output(
                W_c=[[1, 0, 0, 0.5, 0, 0], [0, 1, 0, 0, 0.5, 0], [0, 0, 1, 0, 0, 0.5]],
                W_s=[[3, 0, 0], [0, 0, 3], [0, 3, 0], [-2, -1, 0]],
                words=KOREAN,
            ),
        ),
    ),
    "dictionary": Example(
        "A dictionary of the weather in degrees, asked for «snow» itself. It answers with all its entries, mixed by "
        "likeness; the lower the temperature τ, the nearer it comes to the exact entry, -3.",
        "날씨별 기온 사전에서 «눈(snow)»을 그대로 찾습니다. 모든 항목을 유사도에 따라 섞어 대답하는데, "
        "온도 τ를 낮출수록 정확히 일치하는 항목의 값 -3에 가까워집니다.",
        Numbers(query=[1.0, 0.0], temperatures=[1, 0.5, 0.2, 0.1, 0.05, 0.01], **WEATHER),
    ),
    "sleet": Example(
        "The same dictionary asked for «sleet», which it does not hold. An exact look-up finds nothing; "
        "attention answers with something between snow and rain.",
        "같은 사전에서 사전에 없는 «진눈깨비(sleet)»를 찾습니다. 보통의 사전은 답이 없지만, "
        "어텐션은 눈과 비 사이의 값을 답합니다.",
        Numbers(query=[4.0, 1.5], **WEATHER),
    ),
    "scaled-dot": Example(
        "The Transformer's score: a dot product divided by √d, so that wide vectors do not drive softmax to extremes.",
        "트랜스포머의 스코어: 내적을 √d로 나누어, 벡터의 차원이 커도 softmax가 한쪽으로 쏠리지 않게 합니다.",
        Numbers(mechanism="scaled-dot", tokens=SNOW, query=STATE, keys=STATES),
    ),
    "general": Example(
        "A learned matrix stands between query and keys, so that the two may have different widths.",
        "쿼리와 키 사이에 학습되는 행렬이 있어, 둘의 크기가 달라도 됩니다.",
        Numbers(
            mechanism="general", tokens=THREE, query=STATE, keys=NARROW, parameters={"W_a": [[1, 0], [0, 1], [1, 1]]}
        ),
    ),
    "concat": Example(
        "A small neural network compares: query and key are joined, multiplied, squeezed by tanh and summed up.",
        "작은 신경망이 비교합니다: 쿼리와 키를 이어 붙여 행렬을 곱하고 tanh를 거쳐 합칩니다.",
        Numbers(
            mechanism="concat",
            tokens=THREE,
            query=STATE,
            keys=NARROW,
            parameters={"W_a": [[1, 0, 0, 1, 0], [0, 1, 0, -1, 1]], "v_a": [2, -1]},
        ),
    ),
    "additive": Example(
        "Bahdanau's score: query and key are each multiplied, added, squeezed by tanh and summed up.",
        "바다나우의 스코어: 쿼리와 키에 각각 행렬을 곱해 더하고 tanh를 거쳐 합칩니다.",
        Numbers(
            mechanism="additive",
            tokens=THREE,
            query=STATE,
            keys=NARROW,
            parameters={"W": [[1, 0, 0], [0, 1, 0]], "U": [[1, 0], [-1, 1]], "v": [2, -1]},
        ),
    ),
    "location": Example(
        "No key is read: the query alone says which place it wants.",
        "키를 보지 않고, 쿼리만으로 볼 위치를 정합니다.",
        Numbers(
            mechanism="location",
            tokens=THREE,
            query=STATE,
            keys=NARROW,
            parameters={"W_a": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]},
        ),
    ),
    "coverage": Example(
        "What was read before is counted, so that no word is read twice: «I» has had most of the weight already.",
        "이미 읽은 양을 세어 같은 단어를 두 번 보지 않게 합니다: «I»는 벌써 많이 보았습니다.",
        Numbers(
            mechanism="coverage",
            tokens=THREE,
            query=STATE,
            keys=NARROW,
            coverage=[0.8, 0.2, 0.0],
            parameters={"W": [[1, 0, 0], [0, 1, 0]], "U": [[1, 0], [-1, 1]], "v": [2, -1], "w_c": [-3, 1]},
        ),
    ),
    "local-m": Example(
        "Only a window around the same place in the source is seen, here one word to each side of the third.",
        "원문의 같은 위치 주변의 창만 봅니다. 여기서는 세 번째 단어와 그 양옆 한 단어씩입니다.",
        Numbers(mechanism="local-m", tokens=SNOW, query=STATE, keys=STATES, position=2, reach=1),
    ),
    "local-p": Example(
        "The query predicts the middle of its window, and the weights fall off around it: they sum to less than one.",
        "쿼리가 창의 한가운데를 예측하고, 가중치는 거기서 멀어질수록 줄어듭니다. 그래서 합이 1보다 작습니다.",
        Numbers(
            mechanism="local-p",
            tokens=SNOW,
            query=STATE,
            keys=STATES,
            reach=2,
            parameters={"W_p": [[0.5, 0, 0], [0, 1, 0], [0, 0, 1]], "v_p": [-1, 0.5, 0]},
        ),
    ),
    "multi-head": Example(
        "Self-attention with two heads: «snow» looks at its own sentence, each head through projections of its own.",
        "헤드가 둘인 셀프 어텐션: «snow»가 자기 문장을 봅니다. 헤드마다 제 행렬로 투영합니다.",
        Numbers(**HEADS, **SENTENCE),
    ),
    "masked": Example(
        "Masked self-attention: the decoder has been given <sos> and «나는», and «나는» looks back. To predict word 2, "
        "the words from 2 on are hidden, and get a weight of exactly 0.",
        "마스크드 셀프 어텐션: 디코더가 <sos>와 «나는»까지 받았고, «나는»이 뒤돌아봅니다. 2번째 단어를 예측하려면 "
        "2번째부터 가려야 하므로, 그 단어들의 가중치는 정확히 0입니다.",
        Numbers(
            **HEADS,
            tokens=["<sos>", *KOREAN[:3]],
            query=[0, 1, 1, 0],
            keys=[[1, 0, 0, 1], [0, 1, 1, 0], [0, 2, 0, 1], [1, 1, 0, 0]],
            keep=[True, True, False, False],
        ),
    ),
    "positions": Example(
        "Positional encoding: both «I» of «I know what I like» are the same embedding. Only the sines and cosines of "
        "their places, added to it, tell the second one, which looks here, from the first.",
        "포지셔널 인코딩: «I know what I like»의 두 «I»는 임베딩이 같습니다. 자리마다 다른 사인과 코사인을 더해야 "
        "여기서 보고 있는 두 번째 «I»와 첫 번째 «I»가 구별됩니다.",
        Numbers(
            mechanism="scaled-dot",
            tokens=["I", "know", "what", "I", "like"],
            query=[1, 0, 0, 1],
            keys=[[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0]],
            positions=True,
            position=3,
        ),
    ),
    "feed-forward": Example(
        "The rest of a Transformer's block: what the heads of «snow» found is added to it and normed, then put through "
        "the position-wise feed-forward layers W₂ relu(W₁ x + b₁) + b₂, and is added and normed once more.",
        "트랜스포머 블록의 나머지: «snow»의 헤드들이 찾은 것을 더해 정규화하고, 위치별 피드포워드 층 "
        "W₂ relu(W₁ x + b₁) + b₂를 거쳐 다시 더하고 정규화합니다.",
        Numbers(
            **HEADS,
            **SENTENCE,
            feed_forward=FeedForward(
                W_1=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, -1, -1]],
                b_1=[0, 0, 0, 0, 1],
                W_2=[[1, 0, 0, 0, 1], [0, 1, 0, 0, 0], [0, 0, 1, 0, -1], [0, 0, 0, 1, 0]],
                b_2=[0, 0, 0.5, 0],
            ),
        ),
    ),
    "pooling": Example(
        "A classifier reads a review: the last states ask, every word answers, and the weighted sum decides.",
        "분류기가 리뷰를 읽습니다: 마지막 상태가 묻고, 모든 단어가 답하고, 가중합이 판정합니다.",
        Numbers(
            tokens=["not", "bad", "at", "all", "<pad>"],
            query=[1.0, 1.0],
            keys=[[2.2, 0.0], [1.5, 0.5], [0.0, 0.1], [0.2, 0.3], [9.0, 9.0]],
            keep=[True, True, True, True, False],
            output=Output(W_s=[[-1, 1], [1, 0.5]], words=["negative", "positive"], reads="context"),
        ),
    ),
}


def example_named(name: str) -> Example:
    """The example of this name, or one that may have been meant."""
    if name not in EXAMPLES:
        raise UsageError(f"there is no example {name!r}{did_you_mean(name, EXAMPLES)}")
    return EXAMPLES[name]
