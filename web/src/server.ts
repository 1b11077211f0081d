/* A server with models: what is asked of /v1, and what it answers. */

import { SIDES, type BeamTree, type Candidate, type Kind, type Look, type MapInfo, type Matrix, type Step, type Unknown, type Word } from "./record";
import type { Asked, Difference, Edit, Intervention, Keeper, Label, Ledger, Lensed, OtherMap, Strip, Where } from "./keeper";
import { Refused, type Facts } from "./refusals";
import { state } from "./state";

export interface ModelInfo {
  name: string;
  task: "translate" | "classify";
  source: string | null;
  target: string | null;
  labels: string[];
  lenses: string[];
  examples: string[];
}
interface PlainSide {
  text: string;
  tokens: string[];
  names: string[];
  words: Word[];
}
interface PlainMap {
  values: number[][];
  signed: boolean;
  title: string;
}
interface PlainLook {
  source: PlainSide;
  target: PlainSide;
  output: string;
  score: number | null;
  input: string[];
  maps: MapInfo[];
  map: (PlainMap & { kind: Kind | null; layer: number; head: number | null }) | null;
  steps: (Candidate & { candidates: Candidate[] })[];
  beam: BeamTree | null;
  unknown: Unknown[];
  classification: { probabilities: Record<string, number> } | null;
  readers: string;
  honesty: Strip | null;
}

interface PlainRefusal {
  code?: string;
  message?: string;
  facts?: Facts;
}

let key = ""; // of a server that wants one

export function useKey(given: string): void {
  key = given;
}

async function ask<Answer>(path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
  const headers: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
  if (key) headers["Authorization"] = `Bearer ${key}`;
  const request: RequestInit = { method: body === undefined ? "GET" : "POST", headers };
  if (body !== undefined) request.body = JSON.stringify(body);
  if (signal) request.signal = signal;
  const answer = await fetch(path, request).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(0, "unreachable");
  });
  const plain: unknown = await answer.json().catch(() => null);
  if (answer.ok && plain !== null) return plain as Answer;
  const { code = "", message = answer.statusText, facts = {} } = (plain as { error?: PlainRefusal } | null)?.error ?? {};
  throw new Refused(answer.status, code, message, facts);
}

export async function models(): Promise<ModelInfo[]> {
  return (await ask<{ models: ModelInfo[] }>("/v1/models")).models;
}

/** What a visitor begins a translation with: `whole`, if nothing is to follow. */
export interface Beginning {
  text: string;
  whole: boolean;
}

/** One text as one model reads it; `target` is a translation that a visitor began, in place of its own. */
export class ServerKeeper implements Keeper, Asked {
  readonly model = this;
  private readonly known = new Map<string, Promise<Matrix>>();

  private constructor(
    readonly info: ModelInfo,
    readonly text: string,
    readonly look: Look,
    readonly tree: BeamTree | null,
    private readonly target: string | null,
  ) {}

  static async of(info: ModelInfo, text: string, signal: AbortSignal): Promise<ServerKeeper> {
    const plain = await ask<PlainLook>("/v1/look", { model: info.name, text, honesty: "none" }, signal);
    return ServerKeeper.keeping(plain, new ServerKeeper(info, text, lookOf(plain, text), plain.beam, null));
  }

  /** The same text with a translation that begins like this. */
  async begun({ text, whole }: Beginning, signal: AbortSignal): Promise<ServerKeeper> {
    const { info, tree } = this;
    const translated = whole ? null : await ask<{ translations: { text: string }[] }>("/v1/translate", { model: info.name, texts: [this.text], prefix: text, split: false }, signal);
    const target = translated?.translations[0]?.text || text;
    const plain = await ask<PlainLook>("/v1/look", { model: info.name, text: this.text, target, honesty: "none" }, signal);
    return ServerKeeper.keeping(plain, new ServerKeeper(info, this.text, lookOf(plain, this.text), tree, target));
  }

  private static keeping({ map }: PlainLook, keeper: ServerKeeper): ServerKeeper {
    if (map !== null && map.kind !== null) keeper.known.set(nameOf({ ...map, kind: map.kind }), Promise.resolve(matrixOf(map.values)));
    return keeper;
  }

  get forced(): boolean {
    return this.target !== null;
  }

  get task(): "translate" | "classify" {
    return this.info.task;
  }

  get name(): string {
    return this.info.name;
  }

  get lenses(): string[] {
    return this.info.lenses;
  }

  weights(where: Where): Promise<Matrix> {
    const found = this.known.get(nameOf(where)) ?? this.looked(where, {}).then(({ map }) => matrixOf(map?.values ?? []));
    this.known.set(nameOf(where), found);
    found.catch(() => this.known.delete(nameOf(where))); // it may be answered the next time
    return found;
  }

  async lens(name: string, { layer, head }: Where): Promise<Lensed> {
    const { map } = await this.asked<PlainLook>("/v1/look", { lens: name, honesty: "none", ...(name === "value-norm" ? placed(layer, head) : {}) });
    if (map === null) throw new Refused(422, "invalid", name);
    return { matrix: matrixOf(map.values), view: { lens: name, signed: map.signed, title: map.title } };
  }

  async honesty(where: Where, full: boolean): Promise<Strip | null> {
    return (await this.looked(where, { honesty: full ? "full" : "quick" })).honesty;
  }

  explain(step: number, { kind, layer, head }: Where): Promise<Ledger> {
    const place = kind === "pooling" ? {} : { kind, step, ...placed(layer, head) };
    return this.asked("/v1/explain", { ...place, lang: state.language });
  }

  intervene(step: number, row: readonly number[], { layer, head }: Where): Promise<Intervention> {
    return this.asked("/v1/intervene", { ...placed(layer, head), changes: [{ do: "set", step, weights: row }] });
  }

  compare(edit: Edit, { layer, head }: Where): Promise<Difference> {
    return this.asked("/v1/intervene", { ...placed(layer, head), edits: editsOf(edit) });
  }

  async classify(text: string): Promise<Label[]> {
    const { classifications } = await ask<{ classifications: { probabilities: Record<string, number> }[] }>("/v1/classify", { model: this.name, texts: [text] });
    return labelsOf(classifications[0]?.probabilities ?? {});
  }

  otherMap(): Promise<OtherMap> {
    return this.asked("/v1/intervene", { other_map: true });
  }

  private looked({ kind, layer, head }: Where, more: Record<string, unknown>): Promise<PlainLook> {
    return this.asked("/v1/look", { kind, ...placed(layer, head), honesty: "none", ...more });
  }

  private asked<Answer>(path: string, more: Record<string, unknown>): Promise<Answer> {
    return ask(path, { model: this.name, text: this.text, ...(this.target === null ? {} : { target: this.target }), ...more });
  }
}

/** A layer below 0 is the server's own choice: the last. */
function placed(layer: number, head: number | null): { layer?: number; head?: number } {
  if (layer < 0) return {};
  return head === null ? { layer } : { layer, head };
}

/** A word of several pieces is edited from its end, piece by piece, so that the numbers of the others stay. */
function editsOf({ kind, places, by }: Edit): Record<string, string | number>[] {
  const numbers = places.map(place => place + 1);
  const [first = 1, ...rest] = numbers;
  if (kind === "insert") return [{ do: "insert", word: numbers.at(-1) ?? first, new: by }];
  const removed = rest.reverse().map(word => ({ do: "delete", word }));
  return [...removed, kind === "swap" ? { do: "swap", word: first, other: by } : { do: "delete", word: first }];
}

function nameOf({ kind, layer, head }: Where): string {
  return `${kind} ${layer} ${head}`;
}

function matrixOf(values: readonly (readonly number[])[]): Matrix {
  return { rows: values.length, columns: values[0]?.length ?? 0, cells: Float32Array.from(values.flat()) };
}

function labelsOf(probabilities: Record<string, number>): Label[] {
  return Object.entries(probabilities).map(([label, probability]) => ({ label, probability }));
}

function lookOf(plain: PlainLook, text: string): Look {
  const { source, target, input } = plain;
  const steps: Step[] = plain.steps;
  const reads = { reading: "row t is the word being output", merge: "none: tokens as the model has them" };
  return {
    ...reads,
    readers: plain.readers,
    source: text,
    target: plain.output,
    score: plain.score,
    tokens: { source: source.tokens, target: target.tokens, input },
    names: { source: source.names, target: target.names, input },
    words: { source: source.words, target: target.words },
    steps,
    maps: plain.maps.filter(map => map.kind in SIDES),
    beam: plain.beam,
    labels: labelsOf(plain.classification?.probabilities ?? {}),
    unknown: plain.unknown,
  };
}
