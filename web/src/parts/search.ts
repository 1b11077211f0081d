/* The beam search: what was written, and the hypotheses that went another way; a click makes the model go it. */

import { make, number } from "../dom";
import { exact } from "../numbers";
import type { BeamTree } from "../record";
import { say } from "../say";
import { goOnFrom, lookAt } from "../serving";
import { listen, state } from "../state";
import { isMark, spell, visible, wordsWithoutMarks } from "../tokens";
import { button, fillSection, section, type Part } from "./part";

const SHOWN = 4; // other ways of one step that are shown at once

/** A hypothesis from where it leaves the translation to where it ends: places in the tree. */
type Way = number[];
interface Fork {
  taken: number;
  others: Way[];
}

export class SearchPart implements Part {
  readonly element = section("search");

  constructor() {
    listen(["look", "language"], () => this.draw());
    this.element.addEventListener("keydown", event => this.step(event));
    this.draw();
  }

  private draw(): void {
    const { keeper, look } = state;
    const tree = keeper?.tree ?? null;
    const forks = tree === null ? [] : forksOf(tree);
    this.element.hidden = look === null || forks.length === 0;
    if (tree === null || this.element.hidden) return;
    const model = keeper?.model ?? null;
    const rows = forks.map(({ taken, others }) => {
      const rest = others.slice(SHOWN);
      const more = rest.length > 0 && make("details", {}, make("summary", { tabindex: -1 }, say("searchMore", { count: rest.length })), ...rest.map(way => this.way(tree, way, model !== null)));
      return make("li", { class: "fork" }, this.token(tree, taken, model !== null), chance(tree, taken), make("div", { class: "ways" }, ...others.slice(0, SHOWN).map(way => this.way(tree, way, model !== null)), more));
    });
    const back = model?.forced && make("p", { class: "forced", role: "status" }, say("searchForced", { text: look?.target ?? "" }), " ", button(say("searchBack"), () => void lookAt(look?.source ?? ""), { class: "chip" }));
    const told = make("p", { class: "told" }, say("searchTold", { width: tree.width }), model !== null && ` ${say("searchForce")}`);
    fillSection(this.element, "searchTitle", null, told, back, make("ol", { class: "forks" }, ...rows));
    this.stops[0]?.setAttribute("tabindex", "0"); // one stop of Tab for all of them
  }

  /** What the arrow keys go through. */
  private get stops(): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>(".forks button, .forks summary")].filter(one => one.checkVisibility());
  }

  /** Arrow keys: left and right from word to word, up and down from step to step. */
  private step(event: KeyboardEvent): void {
    const { stops } = this;
    const here = stops.findIndex(stop => stop === event.target);
    const fork = stops[here]?.closest(".fork");
    if (here < 0 || !fork) return;
    const beside = event.key === "ArrowDown" ? fork.nextElementSibling : fork.previousElementSibling;
    const moves: Record<string, HTMLElement | undefined> = {
      ArrowRight: stops[here + 1],
      ArrowLeft: stops[here - 1],
      ArrowDown: stops.find(stop => beside?.contains(stop)),
      ArrowUp: stops.find(stop => beside?.contains(stop)),
    };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    stops[here]?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  private way(tree: BeamTree, way: Way, live: boolean): HTMLElement {
    const [first = 0] = way;
    const last = tree.nodes[way.at(-1) ?? 0];
    const words = way.map(place => this.token(tree, place, live));
    return make("div", { class: `hypothesis ${last?.fate ?? ""}` }, ...words, chance(tree, first), make("small", {}, say(`fate ${last?.fate ?? "kept"}`)));
  }

  private token(tree: BeamTree, place: number, live: boolean): HTMLElement {
    const name = visible(tree.nodes[place]?.token ?? "");
    const tokens = pathTo(tree, place).map(one => tree.nodes[one]?.token ?? "");
    const text = textOf(tokens);
    if (!live || text === "") return make("span", { class: "word" }, name);
    const whole = isMark(tokens.at(-1) ?? "");
    return button(name, () => void goOnFrom({ text, whole }), { class: "word", tabindex: "-1", "aria-label": say("searchOn", { text: whole ? `${text} ${name}` : text }) });
  }
}

/** The probability of a token where it stands. */
function chance(tree: BeamTree, place: number): HTMLElement {
  const probability = Math.exp(tree.nodes[place]?.log_probability ?? -Infinity);
  return number(probability, exact(probability), { class: "number" });
}

function textOf(tokens: readonly string[]): string {
  return wordsWithoutMarks(tokens).map(places => spell(tokens, places)).join(" ");
}

function pathTo(tree: BeamTree, place: number): number[] {
  const path = [place];
  for (let parent = tree.nodes[place]?.parent ?? null; parent !== null; parent = tree.nodes[parent]?.parent ?? null) path.unshift(parent);
  return path;
}

/** The steps of the translation, and at each the hypotheses that left it there, the most probable next word first. */
function forksOf(tree: BeamTree): Fork[] {
  const best = bestOf(tree);
  if (best === null) return [];
  const path = pathTo(tree, best);
  const on = new Set(path);
  const parents = new Set(tree.nodes.map(node => node.parent));
  const forks = path.map((taken): Fork => ({ taken, others: [] }));
  tree.nodes.forEach((_, place) => {
    if (parents.has(place)) return; // it went on
    const whole = pathTo(tree, place);
    const left = whole.findIndex(one => !on.has(one));
    if (left >= 0) forks[left]?.others.push(whole.slice(left));
  });
  const first = (way: Way): number => tree.nodes[way[0] ?? 0]?.log_probability ?? 0;
  for (const { others } of forks) others.sort((one, other) => first(other) - first(one));
  return forks;
}

/** The translation that was taken: one that ended before one that was cut off, then the higher score. */
function bestOf(tree: BeamTree): number | null {
  const rank = (place: number): [number, number] => [Number(tree.nodes[place]?.fate === "ended"), tree.nodes[place]?.score ?? 0];
  let best: number | null = null;
  tree.nodes.forEach((node, place) => {
    if (node.score === null) return;
    const [ended, score] = rank(place);
    const [bestEnded, bestScore] = best === null ? [-1, 0] : rank(best);
    if (ended > bestEnded || (ended === bestEnded && score > bestScore)) best = place;
  });
  return best;
}
