"""The models once more, written out from the papers: one sentence at a time, no padding, plain tensor arithmetic.

Nothing of `nungil` is used here but the names of its weights. Each function takes the weights of a model (its
`state_dict`) and the ids of one sentence, and loops over steps, layers, heads and source positions.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

Weights = dict[str, Tensor]
Change = Callable[[Tensor], Tensor]  # what an eye does to the weights of one step; by default nothing


def same(weights: Tensor) -> Tensor:
    return weights


def uniform(weights: Tensor) -> Tensor:
    """Look at every step alike."""
    return torch.ones_like(weights) / weights.shape[-1]


def under(weights: Weights, prefix: str) -> Weights:
    """The weights of one part of a model."""
    return {name[len(prefix) + 1 :]: value for name, value in weights.items() if name.startswith(f"{prefix}.")}


def linear(weights: Weights, name: str, vector: Tensor) -> Tensor:
    product = weights[f"{name}.weight"] @ vector
    return product + weights[f"{name}.bias"] if f"{name}.bias" in weights else product


def cell(kind: str, x: Tensor, h: Tensor, c: Tensor | None, weights: Weights, end: str = "l0") -> tuple:
    """One step of an Elman RNN, a GRU (Cho 2014) or an LSTM (Hochreiter 1997, with the forget gate of Gers 2000)."""
    from_input = weights[f"weight_ih_{end}"] @ x + weights[f"bias_ih_{end}"]
    from_state = weights[f"weight_hh_{end}"] @ h + weights[f"bias_hh_{end}"]
    if kind == "rnn":
        return torch.tanh(from_input + from_state), None
    if kind == "gru":
        (r_x, z_x, n_x), (r_h, z_h, n_h) = from_input.chunk(3), from_state.chunk(3)
        r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
        return (1 - z) * torch.tanh(n_x + r * n_h) + z * h, None
    i, f, g, o = (from_input + from_state).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def read(kind: str, inputs: list[Tensor], weights: Weights, end: str) -> tuple[list[Tensor], Tensor, Tensor | None]:
    """All steps of one layer in one direction, from a state of zeros."""
    h = torch.zeros(weights[f"weight_hh_{end}"].shape[1], dtype=inputs[0].dtype)
    c = torch.zeros_like(h)
    states = []
    for x in inputs:
        h, c = cell(kind, x, h, c, weights, end)
        states.append(h)
    return states, h, c


def encode(kind: str, inputs: list[Tensor], weights: Weights, bidirectional: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The top states (S, W) and, of each layer, the last state and the last memory cell (L, W)."""
    lasts, cells = [], []
    number = 0
    while any(name.startswith(f"layers.{number}.") for name in weights):
        layer = under(weights, f"layers.{number}")
        states, last, memory = read(kind, inputs, layer, "l0")
        if bidirectional:
            back, last_back, memory_back = read(kind, inputs[::-1], layer, "l0_reverse")
            states = [torch.cat(pair) for pair in zip(states, back[::-1], strict=True)]
            last = torch.cat([last, last_back])
            memory = None if memory is None else torch.cat([memory, memory_back])
        inputs = states
        lasts.append(last)
        cells.append(last if memory is None else memory)
        number += 1
    return torch.stack(inputs), torch.stack(lasts), torch.stack(cells)


def energy(name: str, weights: Weights, query: Tensor, key: Tensor, place: int, read_before: Tensor) -> Tensor:
    """The score of one key for one query."""
    if name == "dot":
        return sum(a * b for a, b in zip(query, key, strict=True))
    if name == "scaled-dot":
        return sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(key))
    if name == "general":
        return query @ weights["bridge.weight"] @ key
    if name == "location":
        return weights["rows.weight"][place] @ query
    if name == "concat":
        inner = weights["join.weight"] @ torch.cat([query, key])
    else:
        inner = weights["query.weight"] @ query + weights["key.weight"] @ key
        if name == "coverage":
            inner = inner + weights["cover.weight"][:, 0] * read_before[place]
    return weights["vector.weight"][0] @ torch.tanh(inner)


def softmax(scores: list[Tensor]) -> Tensor:
    """Two steps: exp of each score, then division by their sum."""
    exponentials = torch.stack(scores).exp()
    return exponentials / exponentials.sum()


def look(score: dict, weights: Weights, query: Tensor, keys: Tensor, step: int, read_before: Tensor) -> Tensor:
    """The weight of every key. `score` has the name, the window and its reach. Luong et al. (2015), 3.1 and 3.2."""
    window, reach = score.get("window", "none"), score.get("reach")
    inner = weights if window == "none" else under(weights, "score")
    scores = [energy(score["name"], inner, query, key, s, read_before) for s, key in enumerate(keys)]
    if window == "none":
        return softmax(scores)
    centre: Tensor | int = min(step, len(keys) - 1)
    if window == "local-p":
        share = weights["outer.weight"][0] @ torch.tanh(weights["inner.weight"] @ query)
        centre = len(keys) / (1 + torch.exp(-share))
    inside = [s for s in range(len(keys)) if abs(s - centre) <= reach]
    found = torch.zeros(len(keys), dtype=query.dtype)
    found[inside] = softmax([scores[s] for s in inside])
    if window == "local-p":
        bell = [torch.exp(-((s - centre) ** 2) / (2 * (reach / 2) ** 2)) for s in range(len(keys))]
        found = found * torch.stack(bell)
    return found


def embed(weights: Weights, side: str, ids: list[int], scaled: bool = False) -> list[Tensor]:
    """Rows of the table, times √M where they are scaled."""
    rows = [weights[f"{side}.table.weight"][number] for number in ids]
    return [row * math.sqrt(len(row)) for row in rows] if scaled else rows


def recurrent(
    weights: Weights, chosen: dict, source: list[int], target: list[int], change: Change = same
) -> tuple[Tensor, Tensor | None]:
    """Logits (T, V) and weights (T, S) of a recurrent translator. `chosen` has the settings, every one of them."""
    kind, decoder = chosen["cell"], chosen["decoder"]
    encoder = under(weights, "encoder")
    scaled = chosen["scale_embedding"]
    embedded = embed(weights, "source_embedding", source, scaled)
    keys, lasts, cells = encode(kind, embedded, encoder, chosen["bidirectional"])
    depth = chosen["decoder_layers"]
    h = list(torch.tanh(linear(weights, "bridge.hidden", lasts[-1])).chunk(depth))
    c = list(torch.tanh(linear(weights, "bridge.memory", cells[-1])).chunk(depth)) if kind == "lstm" else [None] * depth
    score = under(weights, "decoder.attention.score")
    before, fed = torch.zeros(len(keys), dtype=keys.dtype), None
    if chosen["input_feeding"]:
        fed = torch.zeros(weights["output.weight"].shape[1], dtype=keys.dtype)
    logits, looks = [], []
    for step, word in enumerate(embed(weights, "target_embedding", target, scaled)):
        if decoder == "bahdanau":  # c from the previous state; it enters the recurrence
            alpha = change(look(chosen["score"], score, h[-1], keys, step, before))
            x = torch.cat([word, alpha @ keys])
        else:
            x = word if fed is None else torch.cat([word, fed])
        for layer in range(depth):
            h[layer], c[layer] = cell(kind, x, h[layer], c[layer], under(weights, f"decoder.layers.layers.{layer}"))
            x = h[layer]
        feature = x
        if decoder == "luong":  # c from the current state
            alpha = change(look(chosen["score"], score, x, keys, step, before))
        if decoder != "plain":
            feature = torch.cat([alpha @ keys, x])
            if chosen["output"] == "tanh":
                feature = torch.tanh(weights["decoder.readout.combine.weight"] @ feature)
            before = before + alpha
            looks.append(alpha)
        fed = feature if chosen["input_feeding"] else None
        logits.append(linear(weights, "output", feature))
    return torch.stack(logits), torch.stack(looks) if looks else None


def sinusoid(place: int, width: int) -> list[float]:
    """PE(p, 2i) = sin(p / 10000^{2i/d}), PE(p, 2i+1) = cos(same). Vaswani et al. (2017), section 3.5."""
    angles = [place / 10_000 ** (2 * (column // 2) / width) for column in range(width)]
    return [math.cos(a) if column % 2 else math.sin(a) for column, a in enumerate(angles)]


def place(vectors: list[Tensor], positions: str) -> list[Tensor]:
    """Embeddings times √M, with their positions."""
    width = len(vectors[0])
    scaled = [vector * math.sqrt(width) for vector in vectors]
    if positions == "none":
        return scaled
    return [vector + torch.tensor(sinusoid(p, width), dtype=vector.dtype) for p, vector in enumerate(scaled)]


def norm(weights: Weights, name: str, vector: Tensor) -> Tensor:
    """Ba et al. (2016)."""
    mean = vector.sum() / len(vector)
    variance = ((vector - mean) ** 2).sum() / len(vector)
    return (vector - mean) / torch.sqrt(variance + 1e-5) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def heads(
    weights: Weights, queries: list[Tensor], seen: list[Tensor], count: int, causal: bool, change: Change
) -> list[Tensor]:
    """Multi-head attention, head by head and query by query. Vaswani et al. (2017), section 3.2.2."""
    size, results = len(queries[0]) // count, []
    for t, query in enumerate(queries):
        visible = seen[: t + 1] if causal else seen
        joined = []
        for head in range(count):
            cut = slice(head * size, (head + 1) * size)
            q = linear(weights, "query", query)[cut]
            keys = [linear(weights, "key", state)[cut] for state in visible]
            values = torch.stack([linear(weights, "value", state)[cut] for state in visible])
            joined.append(change(softmax([q @ key / math.sqrt(size) for key in keys])) @ values)
        results.append(linear(weights, "output", torch.cat(joined)))
    return results


def sublayer(weights: Weights, name: str, states: list[Tensor], order: str, part: Callable) -> list[Tensor]:
    """x + part(norm(x)) or norm(x + part(x))."""
    if order == "pre":
        return [x + y for x, y in zip(states, part([norm(weights, name, x) for x in states]), strict=True)]
    return [norm(weights, name, x + y) for x, y in zip(states, part(states), strict=True)]


def feed_forward(weights: Weights, states: list[Tensor]) -> list[Tensor]:
    """W₂ relu(W₁ x + b₁) + b₂."""
    return [linear(weights, "outer", linear(weights, "inner", x).clamp(min=0)) for x in states]


def transformer_encode(
    weights: Weights, states: list[Tensor], count: int, order: str, change: Change = same
) -> list[Tensor]:
    number = 0
    while block := under(weights, f"blocks.{number}"):
        own, fed = under(block, "attention"), under(block, "feed_forward")
        states = sublayer(
            block, "around_attention.norm", states, order, lambda x, own=own: heads(own, x, x, count, False, change)
        )
        states = sublayer(block, "around_feed_forward.norm", states, order, lambda x, fed=fed: feed_forward(fed, x))
        number += 1
    return [norm(weights, "norm", x) for x in states] if order == "pre" else states


def transformer(weights: Weights, chosen: dict, source: list[int], target: list[int], change: Change = same) -> Tensor:
    """Logits (T, V) of a Transformer translator."""
    order, count, positions = chosen["norm"], chosen["heads"], chosen["positions"]
    embedded = place(embed(weights, "source_embedding", source), positions)
    seen = transformer_encode(under(weights, "encoder"), embedded, count, order, change)
    states = place(embed(weights, "target_embedding", target), positions)
    for number in range(chosen["decoder_layers"]):
        block = under(weights, f"blocks.{number}")
        masked, cross, fed = (under(block, part) for part in ("masked", "cross", "feed_forward"))
        parts = {
            "around_masked.norm": lambda x, own=masked: heads(own, x, x, count, True, change),
            "around_cross.norm": lambda x, own=cross: heads(own, x, seen, count, False, change),
            "around_feed_forward.norm": lambda x, own=fed: feed_forward(own, x),
        }
        for name, part in parts.items():
            states = sublayer(block, name, states, order, part)
    if order == "pre":
        states = [norm(weights, "norm", x) for x in states]
    return torch.stack([linear(weights, "output", x) for x in states])


def ngram_buckets(ids: list[int], longest: int, buckets: int) -> list[int]:
    """Where the distinct n-grams of one sentence are hashed to, n by n and place by place."""
    found = []
    for n in range(1, longest + 1):
        for first in range(len(ids) - n + 1):
            number = 0
            for so_far, token in enumerate(ids[first : first + n], start=1):
                number = (number * 1_000_003 + token + so_far) % (2**31 - 1)
            if number % buckets not in found:
                found.append(number % buckets)
    return found


def ngram_logits(weights: Weights, ids: list[int], longest: int, buckets: int) -> Tensor:
    """What the reader of n-grams says of one sentence: r·w of each n-gram, with r of length 1, five times."""
    places = ngram_buckets(ids, longest, buckets)
    logits = []
    for column, bias in enumerate(weights["bias"]):
        counted = [weights["ratios"][place, column] for place in places]
        learned = [weights["table"][place, column] for place in places]
        length = sum(one**2 for one in counted) ** 0.5
        logits.append(5 * sum(r * w for r, w in zip(counted, learned, strict=True)) / length + bias)
    return torch.stack(logits)


def classifier(weights: Weights, chosen: dict, ids: list[int], change: Change = same) -> tuple[Tensor, Tensor | None]:
    """Logits (C) and weights (S) of a classifier."""
    states, asking = _classifier_states(weights, chosen, ids, change)
    alpha = None
    if chosen["pooling"] == "attention":
        query = asking if chosen["query"] == "last" else weights["pooling.query"]
        score = under(weights, "pooling.attention.score")
        alpha = change(look(chosen["score"], score, query, states, 0, torch.zeros(len(states), dtype=states.dtype)))
        pooled = sum(weight * state for weight, state in zip(alpha, states, strict=True))
    elif chosen["pooling"] == "mean":
        pooled = sum(states) / len(states)
    elif chosen["pooling"] == "max":
        pooled = torch.stack([max(column) for column in states.T])
    else:  # the last state of a recurrent encoder, the last word's of others
        pooled = asking if chosen["encoder"] in ("lstm", "gru", "rnn") else states[-1]
    logits = linear(weights, "output", linear(weights, "dense", pooled).clamp(min=0))
    if chosen.get("ngrams"):
        wide = ngram_logits(under(weights, "ngrams"), ids, chosen["ngrams"]["longest"], chosen["ngrams"]["buckets"])
        logits = (logits + wide) / 2
    return logits, alpha


def _classifier_states(weights: Weights, chosen: dict, ids: list[int], change: Change) -> tuple[Tensor, Tensor]:
    """The states of one text, and the one that asks as the last: where there is none, the mean."""
    scaled = chosen["scale_embedding"] and chosen["encoder"] != "transformer"  # which is scaled where it is placed
    embedded, encoder = embed(weights, "embedding", ids, scaled), under(weights, "encoder")
    if chosen["encoder"] in ("lstm", "gru", "rnn"):
        states, lasts, _ = encode(chosen["encoder"], embedded, encoder, chosen["bidirectional"])
        return states, lasts[-1]
    if chosen["encoder"] == "transformer":
        placed = place(embedded, chosen["positions"])
        embedded = transformer_encode(encoder, placed, chosen["heads"], "pre", change)
    states = torch.stack(embedded)
    return states, sum(states) / len(states)
