/* The state of the page, and who listens to which part of it. */

import type { Kind, Look, Matrix, View } from "./record";
import type { Keeper } from "./keeper";
import type { Refused } from "./refusals";

export type Reading = "output" | "input";
export interface Choice {
  kind: Kind;
  layer: number;
  head: number | null; // null: the mean over all heads
  lens: string;
  reading: Reading;
  words: boolean; // pieces joined to words
}
/** A token that is written, a token that is read, or both. */
export interface Pointed {
  row: number | null;
  column: number | null;
}
/** A cell whose arithmetic is open, in tokens. */
export interface Cell {
  row: number;
  column: number;
}
export interface State {
  language: "en" | "ko";
  night: boolean;
  keeper: Keeper | null; // who has the weights: the file itself, or a server
  look: Look | null;
  choice: Choice | null;
  view: View | null; // the map on show
  gaze: Matrix | null; // attention between what is written and what is read, token by token
  pointed: Pointed | null;
  opened: Cell | null; // the cell whose arithmetic is open
  busy: boolean;
  problem: Refused | null; // why what was asked for last is not there
}
export type Field = keyof State;

export const state: State = {
  language: "en",
  night: false,
  keeper: null,
  look: null,
  choice: null,
  view: null,
  gaze: null,
  pointed: null,
  opened: null,
  busy: false,
  problem: null,
};

const listeners: { fields: readonly Field[]; act: () => void }[] = [];

/** Act whenever one of these changes; once for several at the same time. */
export function listen(fields: readonly Field[], act: () => void): void {
  listeners.push({ fields, act });
}

export function change(to: Partial<State>): void {
  const changed = (Object.keys(to) as Field[]).filter(field => state[field] !== to[field]);
  Object.assign(state, to);
  for (const { fields, act } of listeners) if (fields.some(field => changed.includes(field))) act();
}
