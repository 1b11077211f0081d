/* From a choice to the map on show: the weights are asked for, and named. */

import { refusalOf } from "./refusals";
import { fitted, viewOf, type Look, type Matrix } from "./record";
import { change, state, type Choice } from "./state";
import type { Keeper } from "./keeper";

let turn = 0; // of several choices in a row only the last is shown

/** A new record, the choice kept as far as it fits. Where the last one looked says nothing of this one. */
export async function show(keeper: Keeper, look: Look): Promise<void> {
  change({ keeper, look, gaze: null, opened: null, pointed: null, problem: null });
  const choice = fitted(look, state.choice);
  if (choice === null) change({ choice, view: null, gaze: null });
  else await load(choice);
}

export async function choose(to: Partial<Choice>): Promise<void> {
  if (state.choice === null || state.look === null) return;
  const wanted = { ...state.choice, ...to };
  if (to.kind !== undefined && to.kind !== state.choice.kind) Object.assign(wanted, { layer: -1, head: null, lens: "raw" });
  const choice = fitted(state.look, wanted);
  if (choice !== null) await load(choice);
}

async function load(choice: Choice): Promise<void> {
  const mine = ++turn;
  const { keeper, look } = state;
  if (keeper === null || look === null) return;
  try {
    const lens = keeper.model?.lenses.includes(choice.lens) && isAcross(choice) ? choice.lens : "raw";
    const shown = { ...choice, lens };
    const matrix = await keeper.weights(shown);
    const lensed = lens === "raw" || keeper.model === null ? null : await keeper.model.lens(lens, shown);
    const gaze = isAcross(choice) ? matrix : await main(keeper, look);
    if (mine !== turn || look !== state.look) return;
    const view = viewOf(look, shown, lensed?.matrix ?? matrix, lensed?.view);
    change({ choice: shown, view, gaze, opened: null, pointed: null, problem: null });
  } catch (error) {
    if (mine === turn) change({ problem: refusalOf(error) });
  }
}

function isAcross({ kind }: { kind: string }): boolean {
  return kind === "cross" || kind === "pooling";
}

/** The map that is changed when another kind is on show: the last layer, the mean over its heads. */
async function main(keeper: Keeper, look: Look): Promise<Matrix | null> {
  const choice = fitted(look, null);
  return choice !== null && isAcross(choice) ? keeper.weights(choice) : null;
}
