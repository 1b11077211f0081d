/* The arithmetic of one cell: every number from score to word, and how far it is off the model's own. */

import { make, number, type Child } from "../dom";
import type { Ledger, LedgerBlock, LedgerStep, Values } from "../keeper";
import { together } from "../numbers";
import { problemOf } from "../refusals";
import { say } from "../say";
import { change, listen, state } from "../state";
import { visible } from "../tokens";
import { button, coded, fillSection, section, type Part } from "./part";

const SHOWN = 8; // the longest vector that is written whole
const FIRST = 3; // numbers of a longer one
const CANDIDATES = 10; // words of a vocabulary
const ATTENTION = ["score", "exp", "sum of exp", "weight", "local weight"]; // the way of one word, from score to weight

export class LedgerPart implements Part {
  readonly element = section("ledger");
  private turn = 0;

  constructor() {
    listen(["opened"], () => void this.open(true));
    listen(["language"], () => void this.open(false));
    this.element.hidden = true;
  }

  private async open(moves: boolean): Promise<void> {
    const { opened, keeper, choice } = state;
    const mine = ++this.turn;
    this.element.hidden = opened === null;
    if (opened === null || choice === null) return;
    if (!keeper?.model || choice.lens !== "raw") return this.refuse(say(keeper?.model ? "ledgerNone" : "ledgerOffline"));
    fillSection(this.element, "ledgerTitle", "ledgerTold", this.close(), make("p", { class: "quiet", role: "status" }, say("ledgerWait")));
    if (moves) this.reveal();
    try {
      const ledger = await keeper.model.explain(opened.row + 1, choice);
      if (mine !== this.turn) return;
      this.draw(ledger, opened.column);
      if (moves) this.reveal();
    } catch (error) {
      if (mine === this.turn) this.refuse(problemOf(error));
    }
  }

  private refuse(why: string): void {
    fillSection(this.element, "ledgerTitle", null, this.close(), make("p", { class: "problem" }, ...coded(why)));
    this.reveal();
  }

  private close(): HTMLElement {
    const act = (): void => {
      change({ opened: null });
      document.querySelector<HTMLElement>("#map [role=grid][tabindex], #map [role=gridcell][tabindex='0']")?.focus();
    };
    return button(say("ledgerClose"), act, { class: "chip close" });
  }

  private reveal(): void {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.element.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
    const title = this.element.querySelector<HTMLElement>("h2");
    title?.setAttribute("tabindex", "-1");
    title?.focus({ preventScroll: true });
  }

  private draw(ledger: Ledger, column: number): void {
    const { page } = ledger;
    const parts: LedgerBlock[][] = [];
    for (const block of page.blocks) {
      if (block.title || !parts.length) parts.push([]);
      parts.at(-1)?.push(block);
    }
    const title = make("p", { class: "ledger-of" }, make("b", {}, page.title), page.opening && make("span", {}, page.opening));
    const verdict = make("ul", { class: "found" }, ...page.verdict.filter(line => !line.includes("--json")).map(line => lineOf(line, ledger.residual)));
    fillSection(this.element, "ledgerTitle", "ledgerTold", this.close(), title, wayOf(ledger, column), ...parts.map(part => drawPart(ledger, part, column)), verdict);
  }
}

/** A sentence of the verdict; the residual in it is a number to be read. */
function lineOf(line: string, residual: number): HTMLElement {
  const found = /^(residual )(\S+)(:.*)$/.exec(line);
  return found ? make("li", { class: "residual" }, found[1], number(residual, found[2] ?? ""), found[3]) : make("li", {}, line);
}

/** The clicked word on its way: score → exp → ÷ sum → weight. */
function wayOf(ledger: Ledger, column: number): HTMLElement | null {
  const kind = state.choice?.kind;
  const head = state.choice?.head ?? null;
  const steps = ATTENTION.flatMap(name => ledger.steps.filter(step => step.name === name && step.part === kind && step.layer === lastLayer(ledger, kind) && (head === null || step.head === undefined || step.head === head)).slice(-1));
  const places = steps.map(step => {
    const value = Array.isArray(step.values) ? step.values[column] : step.values;
    if (typeof value !== "number") return null;
    const name = ledger.page.names[ledger.steps.indexOf(step)] ?? step.name;
    return make("li", { "data-step": step.name }, make("span", {}, name), number(value, together([value])[0] ?? ""));
  });
  const token = steps[0]?.axes[0]?.labels?.[column];
  if (token === undefined || places.every(place => place === null)) return null;
  const shown = steps.at(-1)?.head;
  const which = shown === undefined ? null : make("span", {}, `${say("head")} ${shown}`);
  return make("ol", { class: "way", "aria-label": visible(token) }, make("li", { class: "token" }, which, visible(token)), ...places);
}

function lastLayer(ledger: Ledger, kind: string | undefined): number | undefined {
  return state.choice && ledger.steps.some(step => step.part === kind && step.layer === state.choice?.layer) ? state.choice.layer : ledger.steps.filter(step => step.part === kind).at(-1)?.layer;
}

function drawPart(ledger: Ledger, blocks: LedgerBlock[], column: number): HTMLElement {
  const [first] = blocks;
  const part = ledger.steps[first?.steps[0] ?? 0]?.part;
  const layer = ledger.steps[first?.steps[0] ?? 0]?.layer;
  const main = part === state.choice?.kind && (layer === undefined || layer === lastLayer(ledger, part));
  const open = main || part === "output" || part === "pooling";
  const body = blocks.flatMap(block => [block.name && make("h4", {}, block.name), drawBlock(ledger, block, main || part === "pooling" ? column : null)]);
  return make("details", { class: "ledger-part", open, "data-part": part ?? "" }, make("summary", {}, first?.title ?? ""), first?.story && make("p", { class: "told" }, first.story), ...body);
}

function drawBlock(ledger: Ledger, block: LedgerBlock, column: number | null): HTMLElement {
  const steps = block.steps.map(place => ledger.steps[place]).filter(step => step !== undefined);
  const names = block.steps.map(place => ledger.page.names[place] ?? "");
  if (!block.rows) return drawLines(steps, names);
  // Vectors are wide: they get tables of their own, so that scores and weights stand side by side.
  const runs: [LedgerStep[], string[]][] = [];
  steps.forEach((step, place) => {
    if (!place || isWide(step) !== isWide(steps[place - 1])) runs.push([[], []]);
    runs.at(-1)?.[0].push(step);
    runs.at(-1)?.[1].push(names[place] ?? "");
  });
  return make("div", {}, ...runs.map(([some, named]) => drawTable(ledger, block, some, named, column, placesOf(steps))));
}

function isWide(step: LedgerStep | undefined): boolean {
  return step?.axes[1]?.name === "unit";
}

/** Steps without rows: a line each. */
function drawLines(steps: LedgerStep[], names: string[]): HTMLElement {
  const rows = steps.map((step, place) => make("tr", { "data-step": step.name }, make("th", { scope: "row" }, names[place] ?? ""), make("td", { class: "formula" }, step.formula), make("td", { class: "text" }, ...cellOf(step.values))));
  return sideways(make("table", { class: "numbers lines" }, make("tbody", {}, ...rows)));
}

interface Shown {
  heading: string;
  formula: string;
  name: string;
  cells: Child[][];
  total: Child[] | null;
}

/** Steps over the same words: a column each; a total stands below what it is the sum of. */
function drawTable(ledger: Ledger, block: LedgerBlock, steps: LedgerStep[], names: string[], marked: number | null, places: number[]): HTMLElement {
  const labels = (steps[0]?.axes[0]?.labels ?? []).map(visible);
  const columns = steps.flatMap((step, place) => columnsOf(ledger, step, names[place] ?? "", places));
  const left = labels.length - places.length;
  const head = make("tr", {}, make("th", { scope: "col" }, block.rows), ...columns.map(one => make("th", { scope: "col" }, one.heading, make("small", {}, one.formula))));
  const rows = places.map((place, row) => make("tr", { class: place === marked && isSource(steps[0]) ? "marked" : "" }, make("th", { scope: "row" }, labels[place] ?? ""), ...columns.map(one => make("td", { "data-step": one.name }, ...(one.cells[row] ?? [])))));
  if (left > 0) rows.push(make("tr", { class: "more" }, make("th", { scope: "row" }, `+ ${left.toLocaleString("en")}`), ...columns.map(() => make("td", {}, "…"))));
  const foot = columns.some(one => one.total) && make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, "Σ"), ...columns.map(one => make("td", { "data-total": one.name }, ...(one.total ?? [])))));
  return sideways(make("table", { class: "numbers" }, make("thead", {}, head), make("tbody", {}, ...rows), foot));
}

function isSource(step: LedgerStep | undefined): boolean {
  return step?.axes[0]?.name === "source" || step?.axes[0]?.name === "input";
}

/** Of a few words all, in their order; of a vocabulary the most probable ones, the most probable first. */
function placesOf(steps: LedgerStep[]): number[] {
  const all = (steps[0]?.axes[0]?.labels ?? []).map((_, place) => place);
  const last = steps.at(-1)?.values;
  const candidates = ["words", "labels"].includes(steps[0]?.axes[0]?.name ?? "");
  if (!candidates || all.length <= CANDIDATES || !Array.isArray(last)) return all;
  const value = (place: number): number => (typeof last[place] === "number" ? last[place] : 0);
  return all.sort((one, other) => value(other) - value(one)).slice(0, CANDIDATES);
}

function columnsOf(ledger: Ledger, step: LedgerStep, heading: string, places: number[]): Shown[] {
  const values = Array.isArray(step.values) ? step.values : [];
  const second = step.axes[1];
  if (second && second.name !== "unit") {
    return (second.labels ?? []).map((label, part) => {
      const cells = numbersOf(places.map(place => (values[place] as number[] | undefined)?.[part] ?? 0));
      return { heading: `${heading} ${visible(label)}`, formula: step.formula, name: step.name, cells: cells.map(cell => [cell]), total: null };
    });
  }
  if (step.name === "keep" || step.name === "window") {
    return [{ heading, formula: step.formula, name: step.name, cells: places.map(place => [values[place] ? "✓" : "✗"]), total: null }];
  }
  const same = (one: LedgerStep): boolean => one.part === step.part && one.layer === step.layer && one.head === step.head;
  const total = ledger.steps.find(one => one.total_of === step.name && same(one));
  const flat = places.every(place => typeof values[place] === "number");
  const cells = flat ? numbersOf(places.map(place => values[place] as number)).map(cell => [cell]) : places.map(place => cellOf(values[place] ?? 0));
  return [{ heading, formula: step.formula, name: step.name, cells, total: total ? cellOf(total.values) : null }];
}

function numbersOf(values: number[]): HTMLElement[] {
  const texts = together(values);
  return values.map((value, place) => number(value, texts[place] ?? ""));
}

/** A number, or a vector: short ones whole, of long ones the first numbers and the length, all of them on a click. */
function cellOf(values: Values): Child[] {
  if (!Array.isArray(values)) return numbersOf([values]);
  const all = flat(values);
  if (all.length <= SHOWN) return [make("span", { class: "vector" }, ...numbersOf(all))];
  const length = Math.sqrt(all.reduce((sum, one) => sum + one * one, 0));
  const first = make("span", { class: "vector" }, ...numbersOf(all.slice(0, FIRST)), "…", make("span", { class: "length" }, "‖", number(length, together([length])[0] ?? ""), "‖"));
  const summary = make("summary", { title: say("allNumbers", { count: all.length }) }, first);
  const details = make("details", { class: "long" }, summary);
  // The hundreds of numbers of each vector are written down when somebody wants them.
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(make("span", { class: "vector all" }, ...numbersOf(all)));
  });
  return [details];
}

function flat(values: Values): number[] {
  return Array.isArray(values) ? values.flatMap(flat) : [values];
}

function sideways(table: HTMLElement): HTMLElement {
  return make("div", { class: "sideways" }, table);
}

