/* Which model reads which text: asked of the server, and shown. */

import { show } from "./looking";
import { Refused, refusalOf } from "./refusals";
import { models, ServerKeeper, type Beginning, type ModelInfo } from "./server";
import { change, state } from "./state";

export const served: { models: ModelInfo[]; model: ModelInfo | null; text: string } = { models: [], model: null, text: "" };
let running: AbortController | null = null;

/** Whether the server wants a key. */
export function wantsKey(error: unknown): boolean {
  return error instanceof Refused && error.status === 401;
}

export async function begin(): Promise<void> {
  served.models = await models();
  const wanted = new URLSearchParams(window.location.hash.slice(1));
  served.model = served.models.find(one => one.name === wanted.get("model")) ?? served.models[0] ?? null;
  served.text = wanted.get("text") || served.model?.examples[0] || "";
}

/** Look at a text; an older request that still runs is given up. */
export async function lookAt(text: string): Promise<void> {
  const { model } = served;
  served.text = text;
  running?.abort();
  running = null;
  if (model === null || !text.trim()) {
    change({ busy: false, look: null, view: null, gaze: null, opened: null, problem: null });
    return;
  }
  await read(signal => ServerKeeper.of(model, text, signal));
  if (state.look?.source === text) remember(model.name, text);
}

/** Let the translation on show begin like this, and look at what comes of it. */
export async function goOnFrom(beginning: Beginning): Promise<void> {
  const { keeper } = state;
  running?.abort();
  if (keeper instanceof ServerKeeper) await read(signal => keeper.begun(beginning, signal));
}

async function read(reading: (signal: AbortSignal) => Promise<ServerKeeper>): Promise<void> {
  const mine = (running = new AbortController());
  change({ busy: true, problem: null });
  try {
    const keeper = await reading(mine.signal);
    if (running === mine) await show(keeper, keeper.look);
  } catch (error) {
    if (running === mine) change({ problem: refusalOf(error) });
  } finally {
    if (running === mine) change({ busy: false });
  }
}

/** The address of the page says what it shows, so that it can be sent to somebody. */
function remember(model: string, text: string): void {
  window.history.replaceState(null, "", `#${new URLSearchParams({ model, text })}`);
}
