/* Who has the weights: the file itself, or a server with a model. What only a model can do, a file cannot. */

import { meanOf, type BeamTree, type Kind, type Look, type MapInfo, type Matrix, type Side, type Step, SIDES, type View, wordsIn } from "./record";
import { unpack } from "./numbers";

export interface Lensed {
  matrix: Matrix;
  view: Partial<View>;
}
export interface Keeper {
  /** What a model is asked; null in a file. */
  readonly model: Asked | null;
  /** How its own translation was searched for. */
  readonly tree: BeamTree | null;
  weights(map: { kind: Kind; layer: number; head: number | null }): Promise<Matrix>;
}
export interface Where {
  kind: Kind;
  layer: number;
  head: number | null;
}
export interface Label {
  label: string;
  probability: number;
}
/** What a server with a model answers. */
export interface Asked {
  readonly task: "translate" | "classify";
  readonly name: string;
  readonly lenses: string[];
  lens(name: string, where: Where): Promise<Lensed>;
  honesty(where: Where, full: boolean): Promise<Strip | null>; // null: too costly to measure unasked
  explain(step: number, where: Where): Promise<Ledger>;
  intervene(step: number, row: readonly number[], where: Where): Promise<Intervention>;
  compare(edit: Edit, where: Where): Promise<Difference>;
  classify(text: string): Promise<Label[]>;
  otherMap(): Promise<OtherMap>;
  /** Whether the translation on show was begun by the visitor. */
  readonly forced: boolean;
}

/** Something done to a word of the source: `places` are its tokens. */
export interface Edit {
  kind: "swap" | "delete" | "insert";
  places: number[];
  by: string;
}

export interface Figures {
  step: number;
  token: string;
  top: string;
  entropy: number;
  idle: number;
  tau_gradient: number | null;
  tau_erasing: number | null;
  tau_ceiling: number | null;
  tau_norm: number | null;
  delta_p: number;
  kl: number;
  flips: boolean;
  drop_top: number;
  drop_random: number;
  percentile: number | null;
  own_percentile: number | null;
}
export interface Strip {
  where: string;
  reading: string;
  needed: boolean;
  points: boolean;
  agreement: number | null;
  flips: number;
  steps: number;
  means: Record<string, number | null>;
  layers: number;
  residual: number | null;
  permutations: number;
  seed: number;
  rows: Figures[];
  at?: { layer: number; head: number | null }; // in a file: the map that it is of
}
export interface LedgerAxis {
  name: string;
  labels?: string[];
  size?: number;
}
export type Values = number | Values[];
export interface LedgerStep {
  name: string;
  formula: string;
  axes: LedgerAxis[];
  values: Values;
  part?: string;
  layer?: number;
  head?: number;
  total_of?: string;
}
export interface LedgerBlock {
  title: string;
  story: string;
  name: string;
  rows: string; // the heading of the labels; empty where there are lines and no table
  labels: string[];
  columns: { heading: string; formula: string; cells: string[]; total: string }[];
  steps: number[];
}
export interface Ledger {
  mechanism: string;
  numbers: Record<string, unknown>;
  steps: LedgerStep[];
  residual: number;
  page: { title: string; opening: string; names: string[]; blocks: LedgerBlock[]; verdict: string[] };
}
export interface Effect {
  step: number;
  token: string;
  before: number;
  after: number;
  kl: number;
  flips: boolean;
  candidates_before: { token: string; probability: number }[];
  candidates_after: { token: string; probability: number }[];
  row_before: number[];
  row_after: number[];
}
export interface Intervention {
  steps: Effect[];
  output_before: string;
  output_after: string;
  differs: boolean;
}
export interface Difference {
  rows: string[];
  columns: string[];
  difference: number[][];
  differs: boolean;
  output_before: string;
  output_after: string;
  text_after: string;
}
export interface OtherMap {
  label: string;
  source_tokens: string[];
  own: number[];
  other: number[];
  jsd: number;
  tvd: number;
  tried: number;
  found: boolean;
}

/** A picture as a file holds it. */
export interface PlainPicture {
  title: string;
  rows: string[];
  columns: string[];
  packed: string;
  high: number;
  notes: string[];
  signed: boolean;
  bars: boolean;
}
/** What is inside a page of one file. */
export interface Inside {
  record?: {
    source: string;
    target: string;
    score: number | null;
    reading: string;
    merge: string;
    readers: string;
    source_tokens: string[];
    target_tokens: string[];
    input_tokens: string[];
    steps: Step[];
    beam: BeamTree | null;
    maps: { kind: Kind; layer: number; heads: string[] }[];
  };
  strip?: Strip | null;
  labels?: Label[];
  pictures?: PlainPicture[];
  source?: string;
  target?: string;
}
type Kept = NonNullable<Inside["record"]>;

/** The record inside the file. */
export class FileKeeper implements Keeper {
  readonly model = null;
  readonly look: Look;
  readonly tree: BeamTree | null;
  private readonly unpacked = new Map<string, Float32Array>();

  constructor(private readonly record: Kept, inside: Inside) {
    const { source, target, score, reading, merge, readers, steps, beam } = record;
    this.tree = beam;
    const tokens: Record<Side, string[]> = { source: record.source_tokens, target: record.target_tokens, input: record.input_tokens };
    const maps: MapInfo[] = record.maps.map(({ kind, layer, heads }) => ({ kind, layer, heads: heads.length }));
    const words = { source: wordsIn(tokens.source), target: wordsIn(tokens.target) };
    this.look = { source, target, score, reading, merge, readers, tokens, names: tokens, words, steps, beam, maps, labels: inside.labels ?? [], unknown: [] };
  }

  async weights({ kind, layer, head }: Where): Promise<Matrix> {
    const map = this.record.maps.find(one => one.kind === kind && one.layer === layer);
    if (map === undefined) throw new Error(`no ${kind} map of layer ${layer}`);
    const heads = head === null ? map.heads.map((_, place) => place) : [head];
    const cells = meanOf(heads.map(place => this.head(`${kind} ${layer} ${place}`, map.heads[place] ?? "")));
    const [rows, columns] = SIDES[kind].map(side => this.look.tokens[side].length) as [number, number];
    return { rows, columns, cells };
  }

  private head(name: string, packed: string): Float32Array {
    const found = this.unpacked.get(name) ?? unpack(packed);
    this.unpacked.set(name, found);
    return found;
  }
}
