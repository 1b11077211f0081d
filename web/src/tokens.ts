/* Tokens: as they can be shown, and as the words that they make. The same rules as nungil/inspection/merging.py. */

const SPACE = "▁";
const GPT = "Ġ"; // of a piece of byte-level BPE that begins a word; Maltese has the same letter
const JOINER = "￭";
const JOINERS = [JOINER, "##"]; // of a piece that continues one: our word tokenizer's, and WordPiece's
const UNKNOWN = /^(￭?)<unk:(.*)>$/su; // what the vocabulary lacks, with its text
const MARKS = new Set(["<pad>", "<sos>", "<eos>", "<s>", "</s>", "[CLS]", "[SEP]", "[PAD]"]);
const JOINED = "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F])\\u200D(?=\\p{Extended_Pictographic})"; // what makes one emoji of two
const UNSEEN = new RegExp(`(?!${JOINED})(?:[\\p{C}\\p{Zl}\\p{Zp}]|(?! )\\p{Zs})`, "gu");
const PART = /^(.)‹(\d)\/(\d)›$/u; // one of the bytes of a letter
const BYTES = /(?:<0x[0-9A-F]{2}>)+/g; // what no piece of SentencePiece has
const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A token as it can be shown on one line: a line break as \n, a terminal's escape as \x1b; ￭, which few fonts have, as ▪. */
export function visible(token: string): string {
  return token.replaceAll(JOINER, "▪").replace(UNSEEN, letter => {
    const code = letter.codePointAt(0) ?? 0;
    const digits = code.toString(16);
    if (code < 0x100) return SHORT[letter] ?? `\\x${digits.padStart(2, "0")}`;
    return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
  });
}

export function isMark(token: string): boolean {
  return MARKS.has(token);
}

/** The sign of pieces that begin a word, if they have one. */
function beginningOf(tokens: readonly string[]): string | null {
  if (tokens.some(token => token.startsWith(SPACE))) return SPACE;
  const words = tokens.filter(token => !isMark(token));
  const signed = words.filter(token => token.startsWith(GPT)).length;
  return signed > 0 && 2 * signed >= words.length - signed - 1 ? GPT : null;
}

/** The text of a piece that continues a word; a sign alone stays as it is. */
function withoutJoiner(token: string): string {
  const sign = JOINERS.find(one => token.startsWith(one) && token !== one);
  return sign === undefined ? token : token.slice(sign.length);
}

/** The places of the pieces of each word: ▁ or Ġ begins one, ￭ or ## continues one; marks stand alone. */
export function wordsOf(tokens: readonly string[]): number[][] {
  const beginning = beginningOf(tokens);
  const words: number[][] = [];
  tokens.forEach((token, place) => {
    const goesOn = beginning === null ? withoutJoiner(token) !== token : !token.startsWith(beginning);
    const before = tokens[place - 1];
    const last = words.at(-1);
    if (goesOn && last && before !== undefined && !isMark(before) && !isMark(token)) last.push(place);
    else words.push([place]);
  });
  return words;
}

export function wordsWithoutMarks(tokens: readonly string[]): number[][] {
  return wordsOf(tokens).filter(word => !isMark(tokens[word[0] ?? 0] ?? ""));
}

/** The word that these pieces make, without the signs of a tokenizer; a sign alone stays as it is.
 *  A word with an unknown part is shown as unknown. */
export function spell(tokens: readonly string[], word: readonly number[]): string {
  const unknown = word.some(place => UNKNOWN.test(tokens[place] ?? ""));
  const [first = "", ...rest] = word.map(place => (tokens[place] ?? "").replace(UNKNOWN, "$1$2").replace(PART, (_, letter: string, number: string) => (number === "1" ? letter : "")));
  const joined = first + rest.map(withoutJoiner).join("");
  const sign = beginningOf(tokens);
  const bare = (sign !== null && joined.startsWith(sign) ? joined.slice(1) : joined) || joined;
  const spelt = bare.normalize("NFC").replace(BYTES, lettersOf);
  return unknown ? `<unk:${spelt}>` : spelt;
}

/** What these bytes spell; where that is nothing, they stay as they are. */
function lettersOf(found: string): string {
  const bytes = Uint8Array.from(found.match(/[0-9A-F]{2}/g) ?? [], byte => parseInt(byte, 16));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return found;
  }
}
