"""What a page tells of each part of a model, in English and in the Korean of the posts. Knows no torch."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from nungil.inspection.words import Language


class Story(NamedTuple):
    """The title of a part and a sentence or two on what happens in it, each in English and in Korean."""

    title: tuple[str, str]
    told: tuple[str, str]


_SOFTMAX = (
    "Softmax makes weights of the scores in two steps: exp, so that all are positive, and division by their sum.",
    "소프트맥스는 두 단계입니다. exp로 모두 양수로 만들고, 그 합으로 나누어 가중치를 얻습니다.",
)
_HEAD = (
    "Head {head} is written out; a column each says where all heads look.",
    "헤드 {head}의 계산을 모두 적고, 모든 헤드가 보는 곳은 열로 보입니다.",
)

# A part of a model; where it differs from model to model, "part, kind".
STORIES: dict[str, Story] = {
    "encoder": Story(
        ("The source is read", "입력 문장을 읽습니다 (인코더)"),
        (
            "Each token becomes a vector, its embedding x. The {cell} reads them and leaves a hidden state h_s for "
            "each token. Of the last one the decoder's first state h₀ is made.",
            "각 토큰은 임베딩 벡터 x가 되고, {cell} 셀을 거치며 토큰마다 은닉 상태 h_s를 남깁니다. 마지막 은닉 상태로 "
            "디코더의 첫 은닉 상태 h₀를 만듭니다.",
        ),
    ),
    "encoder, classifier": Story(
        ("The text is read", "문장을 읽습니다 (인코더)"),
        (
            "Each token becomes a vector, its embedding x. The {cell} reads them and leaves a hidden state h_s for "
            "each token.",
            "각 토큰은 임베딩 벡터 x가 되고, {cell} 셀을 거치며 토큰마다 은닉 상태 h_s를 남깁니다.",
        ),
    ),
    "encoder, none": Story(
        ("The text is read", "문장을 읽습니다"),
        (
            "The state h_s of each token is its embedding: nothing here knows the order of the words.",
            "토큰마다 임베딩이 곧 h_s입니다. 단어의 순서는 알지 못합니다.",
        ),
    ),
    "encoder, transformer": Story(
        ("The source is read", "입력 문장을 읽습니다 (인코더)"),
        (
            "Each token becomes an embedding times √d, plus its position. In each block every token looks at every "
            "token (self-attention); what comes out at the end is h_s.",
            "각 토큰의 임베딩에 √d를 곱하고 포지셔널 인코딩을 더합니다. 블록마다 모든 토큰이 모든 토큰을 보고 (셀프 "
            "어텐션), 마지막에 나온 것이 h_s입니다.",
        ),
    ),
    "encoded": Story(
        ("What the encoder comes to", "인코더의 출력"),
        (
            "Each block by the length ‖x‖ of its states; then h_s, one for each token.",
            "블록마다 상태의 길이 ‖x‖를 보이고, 토큰마다 h_s를 적습니다.",
        ),
    ),
    "input": Story(
        ("The word put in: «{put_in}»", "입력 단어: «{put_in}»"),
        (
            "The decoder is given what was written last (<sos> at the beginning), as an embedding y.",
            "디코더는 바로 앞에 쓴 단어를 (처음에는 <sos>를) 임베딩 y로 받습니다.",
        ),
    ),
    "input, transformer": Story(
        ("The words put in, up to «{put_in}»", "입력 단어: «{put_in}»까지"),
        (
            "The decoder is given what it has written so far, shifted by <sos>; to predict word {step}, the words from "
            "{step} on are hidden. Each becomes an embedding times √d, plus its position.",
            "디코더는 지금까지 쓴 단어를 <sos>만큼 밀어서 받습니다. {step}번째 단어를 예측할 때 {step}번째부터는 "
            "가려집니다 (masking). 임베딩에 √d를 곱하고 포지셔널 인코딩을 더합니다.",
        ),
    ),
    "cell": Story(
        ("The new hidden state ({cell})", "새 은닉 상태 ({cell})"),
        (
            "Of what is put in and of the state before, the {cell} makes the decoder's hidden state h_d. A gate is "
            "between 0, shut, and 1, open; ⊙ multiplies place by place.",
            "{cell} 셀은 입력과 이전 은닉 상태로 디코더의 은닉 상태 h_d를 만듭니다. 게이트는 0(닫힘)과 1(열림) "
            "사이이고, ⊙는 자리마다 곱합니다.",
        ),
    ),
    "cell, RNN": Story(
        ("The new hidden state (RNN)", "새 은닉 상태 (RNN)"),
        (
            "Of what is put in and of the state before, the RNN makes the decoder's hidden state h_d.",
            "RNN 셀은 입력과 이전 은닉 상태로 디코더의 은닉 상태 h_d를 만듭니다.",
        ),
    ),
    "cross": Story(
        ("Where does it look? (attention)", "어디를 볼까요? (어텐션)"),
        (
            f"The hidden state h_d is the query. Its score with a key h_s says how well they go together. "
            f"{_SOFTMAX[0]} The sum of the states h_s, each times its weight, is the context vector c.",
            f"은닉 상태 h_d가 쿼리입니다. 키 h_s와의 어텐션 스코어는 둘이 얼마나 어울리는지를 나타냅니다. "
            f"{_SOFTMAX[1]} 가중치를 곱한 h_s를 모두 더하면 컨텍스트 벡터 c입니다.",
        ),
    ),
    "cross, bahdanau": Story(
        ("Where does it look? (attention)", "어디를 볼까요? (어텐션)"),
        (
            f"The previous state h_d₋₁ is the query. Its score with a key h_s says how well they go together. "
            f"{_SOFTMAX[0]} The sum of the states h_s, each times its weight, is the context vector c: it goes into "
            "the cell.",
            f"이전 은닉 상태 h_d₋₁이 쿼리입니다. 키 h_s와의 어텐션 스코어는 둘이 얼마나 어울리는지를 나타냅니다. "
            f"{_SOFTMAX[1]} 가중치를 곱한 h_s를 모두 더한 컨텍스트 벡터 c는 셀로 들어갑니다.",
        ),
    ),
    "cross, transformer": Story(
        (
            "Layer {layer}, cross-attention: where in the source does it look?",
            "층 {layer}, 크로스 어텐션: 입력의 어디를 볼까요?",
        ),
        (
            f"The query is of the decoder, keys and values are of the source. {_SOFTMAX[0]} {_HEAD[0]}",
            f"쿼리는 디코더에서, 키와 밸류는 입력 문장에서 옵니다. {_SOFTMAX[1]} {_HEAD[1]}",
        ),
    ),
    "masked": Story(
        (
            "Layer {layer}, masked self-attention: what was written so far",
            "층 {layer}, 마스크드 셀프 어텐션: 지금까지 쓴 단어",
        ),
        (
            f"«{{put_in}}» looks at itself and at the words before it; those still to come are hidden. {_HEAD[0]}",
            f"«{{put_in}}»에서 자신과 앞의 단어만 봅니다. 뒤에 올 단어는 가려집니다. {_HEAD[1]}",
        ),
    ),
    "self": Story(
        (
            "Layer {layer}, self-attention: where does «{word}» look?",
            "층 {layer}, 셀프 어텐션: «{word}»에서 어디를 볼까요?",
        ),
        (
            f"Query, keys and values are all of the same sentence. {_SOFTMAX[0]} {_HEAD[0]}",
            f"쿼리, 키, 밸류가 모두 같은 문장에서 옵니다. {_SOFTMAX[1]} {_HEAD[1]}",
        ),
    ),
    "feed forward": Story(
        ("Layer {layer}, feed-forward", "층 {layer}, 피드포워드"),
        (
            "Two layers, at each position alike; relu leaves nothing below 0.",
            "자리마다 같은 두 층을 지납니다. relu는 0보다 작은 값을 0으로 만듭니다.",
        ),
    ),
    "block": Story(
        ("Layer {layer}, in short", "층 {layer}, 줄여서"),
        (
            "The state of the last word put in after each part; --layer {layer} writes the parts out.",
            "부분마다 마지막 입력 단어의 상태입니다. 자세히 보려면 --layer {layer}입니다.",
        ),
    ),
    "pooling, attention": Story(
        ("One look at the whole text (pooling)", "문장 전체를 한 번 봅니다 (풀링)"),
        (
            f"One query looks at every state h_s. {_SOFTMAX[0]} The sum of the states, each times its weight, is the "
            "context vector c.",
            f"쿼리 하나가 모든 h_s를 봅니다. {_SOFTMAX[1]} 가중치를 곱한 h_s를 모두 더하면 컨텍스트 벡터 c입니다.",
        ),
    ),
    "pooling, mean": Story(
        ("The text as one vector: the mean", "문장을 한 벡터로: 평균"),
        ("Every token counts alike: there is no attention here.", "모든 토큰의 무게가 같습니다. 어텐션은 없습니다."),
    ),
    "pooling, max": Story(
        ("The text as one vector: the maximum", "문장을 한 벡터로: 최댓값"),
        (
            "Of each unit the largest value counts: there is no attention here.",
            "단위마다 가장 큰 값만 남깁니다. 어텐션은 없습니다.",
        ),
    ),
    "pooling, last": Story(
        ("The text as one vector: the last state", "문장을 한 벡터로: 마지막 상태"),
        (
            "Only what the last state holds counts: there is no attention here.",
            "마지막 상태에 남은 것만 씁니다. 어텐션은 없습니다.",
        ),
    ),
    "n-grams": Story(
        ("The second reader: n-grams", "두 번째 독자: n-gram"),
        (
            "It sees every run of tokens once, wherever it stands, without attention. How often a run stood in texts "
            "of a label was counted (r), how far that is believed was learned (w). The verdict is the mean of both "
            "readers.",
            "이어진 토큰을 자리와 상관없이 한 번씩 보며, 어텐션은 없습니다. 라벨마다 얼마나 자주 나왔는지 센 값(r)에 "
            "학습한 가중치(w)를 곱합니다. 답은 두 독자의 평균입니다.",
        ),
    ),
    "output": Story(
        ("Which word comes out?", "어떤 단어가 나올까요?"),
        (
            "Context vector and hidden state are joined. Each word of the vocabulary gets a logit, and softmax makes "
            "probabilities of them: exp, and division by the sum.",
            "컨텍스트 벡터와 은닉 상태를 연결합니다(concat). 단어마다 로짓을 얻고, 소프트맥스로 (exp, 합으로 나누기) "
            "확률을 만듭니다.",
        ),
    ),
    "output, plain": Story(
        ("Which word comes out?", "어떤 단어가 나올까요?"),
        (
            "This decoder has no attention: of the source it knows what came with h₀, and no more. Each word of the "
            "vocabulary gets a logit, and softmax makes probabilities of them: exp, and division by the sum.",
            "이 디코더에는 어텐션이 없습니다. 입력 문장에 대해 아는 것은 h₀로 넘어온 것뿐입니다. 단어마다 로짓을 얻고, "
            "소프트맥스로 (exp, 합으로 나누기) 확률을 만듭니다.",
        ),
    ),
    "output, transformer": Story(
        ("Which word comes out?", "어떤 단어가 나올까요?"),
        (
            "Each word of the vocabulary gets a logit, and softmax makes probabilities of them: exp, and division by "
            "the sum.",
            "단어마다 로짓을 얻고, 소프트맥스로 (exp, 합으로 나누기) 확률을 만듭니다.",
        ),
    ),
    "output, classifier": Story(
        ("Which label?", "어떤 라벨일까요?"),
        (
            "A dense layer, then a logit for each label; softmax makes probabilities of them: exp, and division by the "
            "sum.",
            "dense 층을 지나 라벨마다 로짓을 얻고, 소프트맥스로 (exp, 합으로 나누기) 확률을 만듭니다.",
        ),
    ),
}


def story_of(part: str, facts: Mapping[str, Any], language: Language, layer: int | None) -> tuple[str, str]:
    """The title and the sentences of a part, as the model at hand has it."""
    styles = (facts.get(key) for key in ("encoder", "decoder", "pooling", "cell", "model"))
    found = next((f"{part}, {style}" for style in styles if f"{part}, {style}" in STORIES), part)
    story, korean = STORIES[found], language == "ko"
    told = {**facts, "layer": layer}
    return story.title[korean].format(**told), story.told[korean].format(**told)
