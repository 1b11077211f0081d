/* What the page says, in English and in the Korean of the posts. */

import { state } from "./state";

export type Language = "en" | "ko";
export type Both = readonly string[]; // English, Korean

const SAID = {
  tagline: ["where a model looks", "모델의 눈길을 따라가 보세요"],
  language: ["Language", "언어"],
  theme: ["Colours", "화면"],
  auto: ["auto", "자동"],
  light: ["light", "밝게"],
  dark: ["dark", "어둡게"],
  model: ["Model", "모델"],
  skip: ["To the map", "어텐션 맵으로"],

  translateTitle: ["Write a sentence", "문장을 써 보세요"],
  translateTold: [
    "The model reads it and writes the translation, word by word.",
    "인코더가 문장을 읽고, 디코더가 한 단어씩 번역을 씁니다.",
  ],
  classifyTitle: ["Write a text", "문장을 써 보세요"],
  classifyTold: ["The model reads it and says what it is.", "모델이 문장을 읽고 라벨을 고릅니다."],
  sentence: ["Sentence", "문장"],
  look: ["Look", "보기"],
  examples: ["Try", "예"],
  working: ["The model is at work …", "모델이 계산하고 있습니다 …"],
  unknown: ["The model has never seen", "모델이 본 적 없는 단어"],
  unknownTold: ["so it cannot know what it means.", "무슨 뜻인지 알 수 없습니다."],
  unknownInstead: ["Words it knows:", "아는 단어:"],
  replaceBy: ["replace {word} by {other}", "{word} 대신 {other}"],
  empty: ["Write something, and the model looks at it.", "문장을 쓰면 모델이 봅니다."],
  key: ["Key of this server", "이 서버의 키"],
  open: ["Open", "열기"],
  again: ["Try again", "다시 시도"],

  refused: ["{message}", "서버가 답하지 못했습니다: {message}"],
  "refused unreachable": [
    "The server does not answer. Is `nungil serve` still running?",
    "서버가 답하지 않습니다. `nungil serve`가 실행 중인가요?",
  ],
  "refused tokens": [
    "This is too long: {given} tokens, and this server reads {most} at most.",
    "너무 깁니다. 토큰이 {given}개인데, 이 서버는 {most}개까지 읽습니다.",
  ],
  "refused characters": [
    "This is too long: {given} characters, and this server takes {most} at most.",
    "너무 깁니다. {given}자인데, 이 서버는 {most}자까지 받습니다.",
  ],
  "refused numbers": [
    "The arithmetic has {given} numbers, and this server sends {most} at most; take a shorter text.",
    "계산 과정에 수가 {given}개 있는데, 이 서버는 {most}개까지 보냅니다. 더 짧은 문장으로 해 보세요.",
  ],
  "refused texts": ["{given} texts at once, and this server takes {most} at most.", "문장이 {given}개인데, 이 서버는 한 번에 {most}개까지 받습니다."],
  "refused changes": [
    "{given} changes at once, and this server takes {most} at most.",
    "눈길을 {given}번 옮겼는데, 이 서버는 한 번에 {most}번까지 받습니다.",
  ],
  "refused edits": [
    "{given} edits at once, and this server takes {most} at most.",
    "단어를 {given}번 고쳤는데, 이 서버는 한 번에 {most}번까지 받습니다.",
  ],
  "refused beginnings": ["A beam of {given}, and this server takes {most} at most.", "빔 크기가 {given}인데, 이 서버는 {most}까지 받습니다."],
  "refused translations": [
    "{given} translations of a text, and this server writes {most} at most.",
    "문장마다 번역을 {given}개 달라고 했는데, 이 서버는 {most}개까지 씁니다.",
  ],
  "refused costly": [
    "This would take too long for a text of {tokens} tokens and {written} written ones, about {times} times what this server does; take a shorter one, or the command line.",
    "입력 토큰 {tokens}개, 출력 토큰 {written}개로는 너무 오래 걸립니다 (이 서버가 허용하는 시간의 약 {times}배). 더 짧은 문장으로 하거나 명령줄에서 해 보세요.",
  ],
  "refused empty": ["There is nothing to read in it.", "읽을 단어가 없습니다."],
  "refused too_large": ["This is larger than the {most} bytes that the server takes.", "너무 큽니다. 서버는 {most}바이트까지 받습니다."],
  "refused full": ["Much waits at the server already; try again in a moment.", "기다리는 요청이 많습니다. 잠시 뒤에 다시 시도해 보세요."],
  "refused crowded": ["Too many clients are connected; try again in a moment.", "접속이 너무 많습니다. 잠시 뒤에 다시 시도해 보세요."],
  "refused loading": ["The models are being loaded; try again in a moment.", "모델을 불러오고 있습니다. 잠시 뒤에 다시 시도해 보세요."],
  "refused memory": ["The server has not enough memory for this now.", "지금은 서버의 메모리가 모자랍니다."],
  "refused deadline": ["There was no answer within {seconds} seconds.", "{seconds}초 안에 답이 나오지 않았습니다."],
  "refused slow": ["The request did not come to the server within {seconds} seconds.", "요청이 {seconds}초 안에 서버에 닿지 않았습니다."],
  "refused lost": ["What computed this has died and was replaced.", "계산하던 작업이 멈춰 새로 시작했습니다."],
  "refused bug": ["This is a bug of ours; the server's log says where.", "저희 쪽 버그입니다. 서버의 로그에 위치가 있습니다."],
  "refused key": ["A key is needed for this server.", "이 서버에는 키가 필요합니다."],
  "refused unknown": ["The server does not have this any more; load the page anew.", "서버에 더 이상 없습니다. 페이지를 새로 고치세요."],

  gazeTitle: ["Where does each word look?", "단어마다 어디를 볼까요?"],
  gazeTold: [
    "Point at a word: lines lead to where it looks. The thicker a line, the larger the attention weight.",
    "단어를 가리키면 그 단어가 보는 곳으로 선이 이어집니다. 선이 굵을수록 어텐션 가중치가 큽니다.",
  ],
  gazeRead: ["read", "입력"],
  gazeWritten: ["written", "출력"],
  noWords: ["There is no attention between two texts here; the map below has what there is.", "두 문장 사이의 어텐션이 없습니다. 아래 맵을 보세요."],

  eraseTitle: ["Which words does it look at?", "어떤 단어를 볼까요?"],
  eraseTold: [
    "The stronger the colour of a word, the larger its attention weight. Click a word to erase it, and see whether the answer changes.",
    "색이 진한 단어일수록 어텐션 가중치가 큽니다. 단어를 누르면 지워지고, 답이 바뀌는지 볼 수 있습니다.",
  ],
  eraseOffline: ["The stronger the colour of a word, the larger its attention weight.", "색이 진한 단어일수록 어텐션 가중치가 큽니다."],
  erase: ["erase {word}", "{word} 지우기"],
  restore: ["Put all words back", "모두 되돌리기"],
  erasedNow: ["Without {words}: {label} {p}.", "{words} 없이: {label} {p}."],
  erasedAll: ["Nothing would be left to read.", "읽을 단어가 남지 않습니다."],
  probabilities: ["What it says", "모델의 답"],
  otherMap: ["Is there another map with the same answer?", "같은 답을 내는 다른 맵이 있을까요?"],
  otherTold: [
    "Searches for the most different weights that leave the answer as it is.",
    "답은 그대로인데 가장 다른 가중치를 찾아봅니다.",
  ],
  otherFound: [
    "A very different map gives the same answer (JSD {jsd} of at most 0.69; probabilities move by {tvd}): this map is not the only reason there could be.",
    "아주 다른 맵도 같은 답을 냅니다 (JSD {jsd}, 최대 0.69, 확률 변화 {tvd}). 이 맵이 유일한 이유는 아닙니다.",
  ],
  otherNone: [
    "No very different map with the same answer was found among {tried} (JSD {jsd} of at most 0.69; probabilities move by {tvd}).",
    "맵 {tried}개 가운데 답이 같은 아주 다른 맵은 없었습니다 (JSD {jsd}, 최대 0.69, 확률 변화 {tvd}).",
  ],
  own: ["its own", "모델의 가중치"],
  other: ["the other", "다른 가중치"],

  mapTitle: ["The map", "어텐션 맵"],
  mapTold: [
    "Each row is a word being written, each column a word that is read. The stronger the colour of a cell, the larger the weight; softmax lets each row sum to 1.",
    "행은 출력 단어, 열은 입력 단어입니다. 칸이 진할수록 어텐션 가중치가 큽니다. 소프트맥스를 거쳐 각 행의 합은 1입니다.",
  ],
  mapToldSelf: [
    "Each row is a word that looks, each column a word it looks at: self-attention, the sentence looks at itself.",
    "행은 보는 단어, 열은 보이는 단어입니다. 문장이 자기 자신을 보는 셀프 어텐션입니다.",
  ],
  mapToldMasked: [
    "What was written so far looks at itself; words still to come are hidden (masked).",
    "지금까지 쓴 단어끼리 봅니다. 뒤에 올 단어는 가려집니다(masking).",
  ],
  mapToldPooling: [
    "One look at the whole text: each word with its attention weight. They sum to 1.",
    "문장 전체를 한 번 봅니다. 단어마다 어텐션 가중치가 있고, 합은 1입니다.",
  ],
  mapToldLens: ["The same sentence through another lens.", "같은 문장을 다른 방법으로 봅니다."],
  mapHint: ["Click a cell, or press Enter, and its arithmetic opens.", "칸을 누르거나 Enter를 치면 계산 과정이 열립니다."],
  mapPoint: ["Point at a cell, or use the arrow keys.", "칸을 가리키거나 화살표 키를 쓰세요."],
  mapLabel: [
    "{name}, {rows} rows, {columns} columns. The arrow keys go from cell to cell.",
    "{name}, 행 {rows}개, 열 {columns}개. 화살표 키로 칸을 옮깁니다.",
  ],
  looksAt: [" looks at ", " → "],
  rowSum: ["row sum {sum}", "행의 합 {sum}"],
  entropy: ["entropy {spread} of ln n", "엔트로피 {spread} (ln n 대비)"],
  elseWords: ["else {words}", "다른 후보 {words}"],
  attention: ["Attention", "어텐션"],
  layer: ["Layer", "층"],
  head: ["Head", "헤드"],
  mean: ["mean", "평균"],
  lens: ["Lens", "방법"],
  reading: ["Row", "행"],
  readingOutput: ["word being output", "출력하는 단어"],
  readingInput: ["word just put in", "방금 넣은 단어"],
  unit: ["Tokens", "단위"],
  pieces: ["as the model has them", "모델의 토큰"],
  whole: ["joined to words", "단어로 합치기"],
  cross: ["Cross-attention", "크로스 어텐션"],
  pooling: ["Pooling", "풀링"],
  self: ["Encoder self-attention", "셀프 어텐션 (인코더)"],
  masked: ["Decoder self-attention", "마스크드 셀프 어텐션 (디코더)"],

  noteReading: ["Reading", "읽는 법"],
  noteReaders: ["Readers", "독자"],
  readersTold: [
    "the label is by the mean of two. Attention, of which this map is, gives it a probability of {deep}; n-grams, which no map shows, {wide}.",
    "라벨은 둘의 평균으로 정해집니다. 이 맵의 어텐션이 준 확률은 {deep}, 맵에 나타나지 않는 n-그램이 준 확률은 {wide}입니다.",
  ],
  noteMerging: ["Merging", "합치기"],
  noteColours: ["Colours", "색"],
  noteNever: ["Never looked at", "보지 않은 단어"],
  noteOften: ["Again and again", "여러 번 본 단어"],
  noteScore: ["Score", "점수"],
  noteEntropy: ["Entropy", "엔트로피"],
  noteLens: ["Lens", "방법"],
  readOutput: ["row t is the word being output", "행 t는 출력하는 단어입니다"],
  readInput: ["row t is the word just put in", "행 t는 방금 넣은 단어입니다"],
  readSelf: ["row t is the source word that looks", "행 t는 보는 입력 단어입니다"],
  readPooling: ["the one row is the whole text", "한 행이 문장 전체입니다"],
  sumsEven: ["each row sums to 1", "각 행의 합은 1입니다"],
  sumsOdd: ["rows do not sum to 1, but to {sums}", "행의 합이 1이 아니라 {sums}입니다"],
  unmerged: ["none: tokens as the model has them", "없음: 모델의 토큰 그대로"],
  merged: [
    "words: columns summed over their pieces, rows averaged over theirs",
    "단어: 조각의 열은 더하고 행은 평균을 냅니다",
  ],
  neverTold: ["no word written gives 5%: {words}", "어느 출력 단어도 5%를 주지 않음: {words}"],
  oftenTold: ["weight of 2 words or more: {words}", "단어 두 개 몫 이상의 가중치: {words}"],
  entropyTold: [
    "divided by ln n, n the words the row gave any weight: 0 looks at one word, 1 at all alike.",
    "ln n으로 나눈 값 (n은 가중치가 있는 단어의 수): 0이면 한 단어만, 1이면 모두 똑같이 봅니다.",
  ],
  scoreTold: ["log p of a token, on average: {score}", "토큰마다 log p의 평균: {score}"],

  raw: ["weights", "가중치"],
  "value-norm": ["weight × value", "가중치 × 밸류"],
  rollout: ["rollout", "롤아웃"],
  "gradient-input": ["gradient × input", "기울기 × 입력"],
  "integrated-gradients": ["integrated gradients", "적분 기울기"],
  "leave-one-out": ["leave one out", "하나씩 빼기"],
  "told raw": ["the weights of attention, as the softmax leaves them", "소프트맥스를 거친 어텐션 가중치"],
  "told value-norm": [
    "‖α·f(x)‖, the length of what the word adds to the weighted sum, as a share of its row",
    "‖α·f(x)‖, 가중합에서 그 단어가 더하는 벡터의 길이 (행에서의 비율)",
  ],
  "told rollout": [
    "the share of the word after all layers, if each keeps half of what it had",
    "모든 층을 지난 뒤 그 단어의 몫 (층마다 절반은 그대로 남는다고 볼 때)",
  ],
  "told gradient-input": [
    "Σ x·∂log p/∂x: above 0 the word speaks for what was written, below 0 against it",
    "Σ x·∂log p/∂x: 0보다 크면 출력을 거들고, 작으면 막습니다",
  ],
  "told integrated-gradients": [
    "the same, averaged on the straight way from embeddings of zeros",
    "임베딩 0에서 시작하는 직선을 따라 평균한 기울기",
  ],
  "told leave-one-out": [
    "by how much log p falls when the word is taken out of the text",
    "단어를 문장에서 뺄 때 log p가 떨어지는 만큼",
  ],

  trustTitle: ["How far can it be trusted?", "얼마나 믿을 수 있을까요?"],
  trustTold: [
    "Weights say where a model looked, not why it decided. Three tests of this map:",
    "가중치는 모델이 어디를 보았는지 말할 뿐, 왜 그렇게 정했는지는 말하지 않습니다. 이 맵을 세 가지로 시험합니다.",
  ],
  trustNone: ["These tests are of attention between what is written and what is read.", "출력과 입력 사이의 어텐션에만 하는 시험입니다."],
  trustElsewhere: [
    "Measured of another map of this record; `nungil serve` measures any.",
    "이 기록의 다른 맵에 대해 시험했습니다. `nungil serve`로는 어느 맵이든 시험할 수 있습니다.",
  ],
  trustCostly: ["This sentence is long, so it takes a while.", "문장이 길어서 시간이 걸립니다."],
  trustMeasure: ["Measure it", "시험하기"],
  trustFull: ["All figures, with 100 permutations of each row", "모든 수치 (행마다 100번 섞어 보기)"],
  trustRunning: ["Measuring …", "시험하고 있습니다 …"],
  even: ["Made even", "고르게 하면"],
  evenTold: [
    "how the probability of what was written changes when every word gets the same weight",
    "모든 단어에 같은 가중치를 줄 때 출력 단어의 확률 변화",
  ],
  evenLabel: [
    "how the probability of the label changes when every word gets the same weight",
    "모든 단어에 같은 가중치를 줄 때 라벨의 확률 변화",
  ],
  theOutput: ["output", "출력"],
  theLabel: ["label", "라벨"],
  evenFlips: ["{flips} of {steps} steps would write another word", "{steps}단계 중 {flips}단계에서 다른 단어를 씁니다"],
  evenFlip: ["another label wins", "다른 라벨이 이깁니다"],
  evenStays: ["the label stays", "라벨은 그대로입니다"],
  erased: ["Erased", "지우면"],
  erasedTold: [
    "how log p changes without the word looked at most; beside it, without any other word",
    "가장 많이 본 단어가 없을 때 log p의 변화, 옆은 다른 단어가 없을 때",
  ],
  erasedOther: ["{drop} without another", "다른 단어는 {drop}"],
  order: ["Order", "순서"],
  orderTold: [
    "Kendall's τ between the weights and what gradients and erasing find; beside it, the τ of these two with each other",
    "가중치와 (기울기, 지우기)가 매기는 순서의 켄달 τ, 옆은 그 둘 사이의 τ",
  ],
  orderCeiling: ["{tau} between those two", "그 둘 사이는 {tau}"],
  verdict: ["Verdict", "판정"],
  verdictYesYes: ["It can be read as where the {output} comes from.", "{output}이 어디에서 오는지로 읽어도 됩니다."],
  verdictYesNo: [
    "Read it as where the model looks, not as why: the {output} needs this map, but the words it looks at most are not those that matter most.",
    "어디를 보는지로만 읽고, 이유로 읽지는 마세요. {output}에 이 맵이 필요하지만, 가장 많이 보는 단어가 가장 중요한 단어는 아닙니다.",
  ],
  verdictNoYes: [
    "Read it as a hint: it points at words that matter, but the {output} hardly needs this map to find them.",
    "힌트로만 읽으세요. 중요한 단어를 가리키지만, {output}은 이 맵 없이도 거의 그대로입니다.",
  ],
  verdictNoNo: [
    "Do not read it as the reason: the {output} hardly needs this map, and it does not point at the words that matter.",
    "이유로 읽지 마세요. {output}은 이 맵이 거의 필요 없고, 맵은 중요한 단어를 가리키지 않습니다.",
  ],
  verdictOthers: ["(Other layers looked on as before.)", "(다른 층은 그대로 두었습니다.)"],
  figSpread: ["entropy, of an even row's", "엔트로피 (고른 행 대비)"],
  figIdle: ["weight on marks and punctuation", "표지와 문장 부호의 가중치"],
  figGradient: ["τ with gradient × input", "기울기 × 입력과의 τ"],
  figErasing: ["τ with leave-one-out", "하나씩 빼기와의 τ"],
  figNorm: ["τ with the value norms", "밸류 길이와의 τ"],
  figKl: ["KL when made even, nats", "고르게 할 때 KL (nats)"],
  figPercentile: ["an even row changes more than … of the permutations", "고른 행이 섞은 행보다 크게 바꾸는 비율"],
  figOwn: ["its own row makes its word more probable than … of them", "원래 행이 섞은 행보다 단어를 더 그럴듯하게 하는 비율"],
  figResidual: ["residual of the weights, recomputed in NumPy", "NumPy로 다시 계산한 가중치와의 차이"],
  figure: ["Figure", "수치"],
  value: ["Value", "값"],
  rowByRow: ["Row by row", "행마다"],
  colWord: ["word", "단어"],
  colTop: ["looks most at", "가장 많이 본 단어"],
  colDelta: ["Δp, made even", "고르게 할 때 Δp"],
  colTop2: ["without it", "그 단어 없이"],
  colOther: ["without another", "다른 단어 없이"],

  ledgerTitle: ["Step by step", "단계별 계산"],
  ledgerTold: [
    "Every number from score to word, worked out again and held to the model's own: score → softmax → weighted sum → concat → output softmax.",
    "스코어부터 단어까지 모든 수를 다시 계산해 모델의 값과 견줍니다: 스코어 → 소프트맥스 → 가중합 → concat → 출력 소프트맥스.",
  ],
  ledgerClose: ["Close", "닫기"],
  ledgerOffline: [
    "The step-by-step arithmetic needs the model: `nungil serve` opens it, `nungil explain` prints it.",
    "단계별 계산에는 모델이 필요합니다. `nungil serve`나 `nungil explain`으로 볼 수 있습니다.",
  ],
  ledgerNone: ["There is no arithmetic for this lens; choose the weights.", "이 방법에는 단계별 계산이 없습니다. 가중치를 고르세요."],
  ledgerWait: ["Working it out …", "계산하고 있습니다 …"],
  allNumbers: ["all {count} numbers", "{count}개 모두"],

  editTitle: ["Change a word", "단어를 바꿔 보세요"],
  editTold: [
    "Swap a word, take it out or put one in: the map shows what is looked at more (blue) and less (red, with a minus) than before.",
    "단어를 바꾸거나 빼거나 넣어 보세요. 전보다 더 보는 곳은 파랗게, 덜 보는 곳은 빨갛게(−) 나타납니다.",
  ],
  editChoose: ["Which word?", "어느 단어를?"],
  editBy: ["New word", "새 단어"],
  swap: ["Swap", "바꾸기"],
  remove: ["Take out", "빼기"],
  insert: ["Put in after it", "뒤에 넣기"],
  before: ["before", "전"],
  after: ["after", "후"],
  sameOutput: ["The output is the same.", "출력은 그대로입니다."],
  otherOutput: ["The output is another.", "출력이 달라집니다."],
  differenceNote: [
    "a→b was replaced, −a is gone, +b is new; one that is not there counts as 0.",
    "a→b는 바뀐 것, −a는 없어진 것, +b는 새것입니다. 없는 단어는 0으로 셉니다.",
  ],
  difference: ["Difference", "차이"],

  moveTitle: ["Move the gaze", "눈길을 옮겨 보세요"],
  moveTold: [
    "Drag a bar, and the decoder looks there instead; the rest of the row makes room, so that it still sums to 1. What does it write now?",
    "막대를 끌면 디코더가 그곳을 봅니다. 합이 1이 되도록 나머지는 저절로 줄어듭니다. 이제 무엇을 쓸까요?",
  ],
  moveToldLabel: [
    "Drag a bar, and the model looks there instead; the rest makes room, so that all still sum to 1. What does it say now?",
    "막대를 끌면 모델이 그곳을 봅니다. 합이 1이 되도록 나머지는 저절로 줄어듭니다. 이제 무엇이라고 할까요?",
  ],
  moveStep: ["While it writes", "이 단어를 쓸 때"],
  moveEven: ["All alike", "모두 똑같이"],
  moveBack: ["As it was", "처음대로"],
  moveOn: ["All on {word}", "모두 {word}에"],
  moveWeight: ["weight on {word}", "{word}의 가중치"],
  moveP: ["p of {word}", "{word}의 확률"],
  moveNext: ["What could come", "나올 수 있는 단어"],
  moveIdle: ["Nothing is moved yet.", "아직 옮기지 않았습니다."],

  searchTitle: ["What else could it have written?", "다르게 쓸 수도 있었을까요?"],
  searchTold: [
    "The search keeps the {width} most probable beginnings at each step (beam search). Beside each word: its probability, and the beginnings that went another way.",
    "단계마다 가장 확률이 높은 번역의 앞부분 {width}개를 남깁니다 (빔 서치). 단어 옆에는 그 확률과, 거기서 다른 길로 간 앞부분을 적습니다.",
  ],
  searchForce: ["Click a word to make the model go that way: map, arithmetic and everything else are then of that translation.", "단어를 누르면 모델이 그 길로 갑니다. 어텐션 맵과 계산도 모두 그 번역의 것이 됩니다."],
  searchOn: ["go on from «{text}»", "«{text}»부터 이어 쓰기"],
  searchBack: ["Back to its own translation", "모델의 번역으로"],
  searchForced: ["On show is what the model writes after a beginning of yours: {text}", "지금 보이는 것은 고른 앞부분에서 이어 쓴 번역입니다: {text}"],
  searchMore: ["{count} more", "{count}개 더"],
  "fate pruned": ["dropped", "버림"],
  "fate ended": ["ends here", "끝"],
  "fate cut": ["cut off", "잘림"],
  "fate kept": ["not continued", "이어 쓰지 않음"],

  takeTitle: ["Take it away", "가져가기"],
  takeTold: [
    "The page as one file that works offline, the map as a figure, the numbers as they are.",
    "오프라인에서도 열리는 한 파일, 그림, 그리고 수 그대로.",
  ],
  takeHtml: ["Page", "페이지"],
  takeLinks: ["Word links", "단어 연결"],
  taken: ["{name} was saved.", "{name} 파일을 저장했습니다."],

  offline: [
    "This page is a record in one file. To type sentences, open the arithmetic and change what is looked at, run `nungil serve`.",
    "이 페이지는 기록 하나를 담은 파일입니다. 문장을 쓰고, 계산을 열고, 눈길을 옮기려면 `nungil serve`를 실행하세요.",
  ],
  picture: ["Map", "맵"],
  footer: [
    "Weights say where a model looked. They do not say why it decided.",
    "가중치는 모델이 어디를 보았는지 말합니다. 왜 그렇게 정했는지는 말하지 않습니다.",
  ],
} satisfies Record<string, Both>;

export type Key = keyof typeof SAID;
type Parts = Record<string, string | number>;

/** A sentence in the language of the page, with its parts put in. */
export function say(key: Key, parts: Parts = {}): string {
  return said(SAID[key], parts);
}

export function isKey(name: string): name is Key {
  return name in SAID;
}

/** The same of any pair of English and Korean. */
export function said(both: Both, parts: Parts = {}): string {
  const text = both[state.language === "ko" ? 1 : 0] ?? "";
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(parts[name] ?? whole));
}
