/* A record: tokens of both sides and the maps there are. And a view: one map as it is shown. */

import { highOf } from "./numbers";
import type { Choice } from "./state";
import { spell, visible, wordsOf, wordsWithoutMarks } from "./tokens";

export type Kind = "cross" | "pooling" | "self" | "masked";
export type Side = "source" | "target" | "input";
export const SIDES: Record<Kind, [Side, Side]> = {
  cross: ["target", "source"],
  pooling: ["target", "source"],
  self: ["source", "source"],
  masked: ["target", "input"],
};
const ORDER: Kind[] = ["cross", "pooling", "self", "masked"];
export const OUTPUT = "row t is the word being output";
export const INPUT = "row t is the word just put in";
export const UNMERGED = "none: tokens as the model has them";
export const MERGED = "words: columns summed over their pieces, rows averaged over theirs";

export interface Candidate {
  token: string;
  probability: number;
}
export interface Step extends Candidate {
  candidates: Candidate[];
}
/** A token after a hypothesis; `parent` stands before it, null at the beginning of the sentence. */
export interface BeamNode {
  parent: number | null;
  token: string;
  log_probability: number;
  fate: "kept" | "pruned" | "ended" | "cut";
  score: number | null; // of translations only
}
export interface BeamTree {
  width: number;
  nodes: BeamNode[];
}
export interface MapInfo {
  kind: Kind;
  layer: number;
  heads: number;
}
export interface Unknown {
  word: string;
  offers: string[];
}
export interface Word {
  text: string;
  places: number[];
}
export interface Look {
  source: string;
  target: string;
  score: number | null;
  reading: string;
  merge: string;
  readers: string; // who decided, where a second reader that no map is of took part
  tokens: Record<Side, string[]>; // as the model has them
  names: Record<Side, string[]>; // the same, words it does not know by their own name
  words: { source: Word[]; target: Word[] }; // without marks
  steps: Step[];
  maps: MapInfo[];
  beam: BeamTree | null;
  labels: { label: string; probability: number }[]; // of a classifier
  unknown: Unknown[];
}
export interface Matrix {
  rows: number;
  columns: number;
  cells: Float32Array;
}
/** One map as it is shown: what every drawing and every file starts from. */
export interface View extends Matrix {
  title: string;
  kind: Kind | null; // null: a picture that is no attention
  layer: number;
  head: number | null;
  lens: string;
  rowNames: string[];
  columnNames: string[];
  signed: boolean;
  bars: boolean;
  high: number;
  reading: string;
  merge: string;
  notes: string[]; // what Python says of a picture
  steps: Step[]; // of each row, where there are any
}

/** The kinds of attention there are, the main one first. */
export function kindsOf(look: Look): Kind[] {
  return ORDER.filter(kind => look.maps.some(map => map.kind === kind));
}

export function layersOf(look: Look, kind: Kind): MapInfo[] {
  return look.maps.filter(map => map.kind === kind).sort((one, other) => one.layer - other.layer);
}

/** The choice that fits this record, as near to the old one as may be. */
export function fitted(look: Look, old: Choice | null): Choice | null {
  const kind = kindsOf(look).find(one => one === old?.kind) ?? kindsOf(look)[0];
  if (kind === undefined) return null;
  const layers = layersOf(look, kind);
  const map = layers.find(one => one.layer === old?.layer && kind === old.kind) ?? layers.at(-1);
  if (map === undefined) return null;
  const head = old && old.head !== null && old.head < map.heads && map.heads > 1 && kind === old.kind ? old.head : null;
  const reading = old?.reading ?? "output";
  return { kind, layer: map.layer, head, lens: old?.lens ?? "raw", reading, words: old?.words ?? false };
}

/** Sum over the columns of each word, average over the rows of each. */
export function merge(matrix: Matrix, rows: number[][], columns: number[][]): Matrix {
  const cells = new Float32Array(rows.length * columns.length);
  rows.forEach((row, r) =>
    columns.forEach((column, c) => {
      let sum = 0;
      for (const i of row) for (const j of column) sum += matrix.cells[i * matrix.columns + j] ?? 0;
      cells[r * columns.length + c] = sum / row.length;
    }),
  );
  return { rows: rows.length, columns: columns.length, cells };
}

/** The mean over heads. */
export function meanOf(heads: readonly Float32Array[]): Float32Array {
  const first = heads[0];
  if (first === undefined || heads.length === 1) return first ?? new Float32Array();
  return first.map((_, place) => heads.reduce((sum, head) => sum + (head[place] ?? 0), 0) / heads.length);
}

/** The rows of a decoder named after what was put in: its own output, shifted by one. */
export function readAsInput(target: readonly string[]): string[] {
  return ["<sos>", ...target.slice(0, -1)];
}

export function canReread(look: Look, kind: Kind): boolean {
  return look.reading === OUTPUT && (kind === "cross" || kind === "masked") && look.maps.every(one => one.kind !== "pooling");
}

/** One map with the names of its rows and columns, in the reading and unit that are chosen. */
export function viewOf(look: Look, choice: Choice, matrix: Matrix, lens?: Partial<View>): View {
  const { kind, layer } = choice;
  const [rowSide, columnSide] = SIDES[kind];
  const input = choice.reading === "input" && canReread(look, kind);
  let rowNames = input && rowSide === "target" ? readAsInput(look.names.target) : look.names[rowSide];
  let columnNames = look.names[columnSide];
  let shown = matrix;
  let steps = kind === "cross" && !input && look.steps.length === rowNames.length ? look.steps : [];
  const joins = choice.words && look.merge === UNMERGED;
  if (joins) {
    const [rows, columns] = [wordsOf(rowNames), wordsOf(columnNames)];
    shown = merge(matrix, rows, columns);
    [rowNames, columnNames] = [rows.map(word => spell(rowNames, word)), columns.map(word => spell(columnNames, word))];
    steps = steps.length ? rows.map(word => mergedStep(steps, word)) : [];
  }
  const base = { kind, layer, head: choice.head, lens: choice.lens, signed: false, bars: kind === "pooling", notes: [] };
  const told = { reading: input ? INPUT : look.reading, merge: joins ? MERGED : look.merge };
  const view = { ...base, ...told, title: "", ...lens, ...shown, steps };
  const high = highOf(shown.cells, view.signed);
  return { ...view, high, rowNames: rowNames.map(visible), columnNames: columnNames.map(visible) };
}

function mergedStep(steps: readonly Step[], word: readonly number[]): Step {
  const parts = word.map(place => steps[place]).filter(step => step !== undefined);
  const probability = parts.reduce((product, step) => product * step.probability, 1);
  const candidates = parts.length === 1 ? (parts[0]?.candidates ?? []) : [];
  return { token: parts.map(step => step.token).join(""), probability, candidates };
}

/** The words of a text, marks left out. */
export function wordsIn(tokens: readonly string[]): Word[] {
  return wordsWithoutMarks(tokens).map(places => ({ text: visible(spell(tokens, places)), places }));
}

/** Attention between words, marks left out; null where no word is left. Rows as they are output. */
export function betweenWords(look: Look, matrix: Matrix): Matrix | null {
  const [rows, columns] = [look.words.target.map(word => word.places), look.words.source.map(word => word.places)];
  return rows.length && columns.length ? merge(matrix, rows, columns) : null;
}

/** For each word written the word looked at most, in Pharaoh's format: source-target, counted from 0. */
export function pharaoh(between: Matrix | null): string {
  if (between === null) return "";
  const links = Array.from({ length: between.rows }, (_, row) => {
    const line = between.cells.subarray(row * between.columns, (row + 1) * between.columns);
    const most = line.reduce((largest, one) => Math.max(largest, one), 0);
    return [most > 0 ? line.indexOf(most) : -1, row] as const;
  }).filter(([column]) => column >= 0);
  return links.sort((one, other) => one[0] - other[0] || one[1] - other[1]).map(link => link.join("-")).join(" ");
}

export interface Covered {
  word: string;
  total: number;
  largest: number;
}

/** What attention each word of the source had from all words that were written. */
export function coverageOf(look: Look, matrix: Matrix): Covered[] {
  const between = betweenWords(look, matrix);
  if (between === null) return [];
  return look.words.source.map(({ text: word }, column) => {
    const weights = Array.from({ length: between.rows }, (_, row) => between.cells[row * between.columns + column] ?? 0);
    const total = weights.reduce((sum, one) => sum + one, 0);
    return { word, total, largest: Math.max(...weights) };
  });
}
