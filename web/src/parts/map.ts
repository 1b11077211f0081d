/* The heat map, what is chosen of it, and what is to be known beside it. */

import { gradient } from "../colours";
import { fill, make, number, type Child } from "../dom";
import { Grid } from "../grid";
import { choose } from "../looking";
import { exact, fixed, spreadOf } from "../numbers";
import { canReread, coverageOf, INPUT, kindsOf, layersOf, MERGED, OUTPUT, UNMERGED, type View } from "../record";
import { isKey, say, type Key } from "../say";
import { change, listen, state, type Choice, type Pointed } from "../state";
import { visible, wordsOf } from "../tokens";
import { fillSection, section, type Part } from "./part";
import { Bars } from "./bars";

const OFTEN = 2;
const LITTLE = 0.05;
const READERS = /^the label is by the mean of two\. .* (\d\.\d\d); .* (\d\.\d\d)\.$/; // as nungil tells it

export class MapPart implements Part {
  readonly element = section("map");
  private readonly says = make("p", { class: "says", "aria-live": "polite" });
  private readonly body = make("div", { class: "scroll" });
  private grid: Grid | Bars | null = null;
  private mine: Pointed | null = null; // what this part itself pointed at
  private width = 0;

  constructor() {
    listen(["view", "language", "night"], () => this.draw());
    listen(["pointed"], () => this.follow());
    new ResizeObserver(() => {
      if (Math.abs(this.element.clientWidth - this.width) > 1) this.draw();
    }).observe(this.element);
    this.draw();
  }

  private draw(): void {
    const { view, choice } = state;
    this.element.hidden = view === null;
    this.width = this.element.clientWidth;
    if (view === null) return;
    this.element.dataset["shown"] = [view.kind, view.layer, view.head ?? "mean", view.lens].join(" ");
    const had = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["choice"] : undefined;
    const inGrid = document.activeElement?.getAttribute("role") === "grid" && this.element.contains(document.activeElement);
    fillSection(this.element, "mapTitle", toldOf(view), choice && this.choosers(choice), this.says, this.body, notesOf(view));
    const room = this.element.clientWidth - 2 * parseFloat(getComputedStyle(this.element).paddingLeft || "0");
    const listener = {
      point: (row: number, column: number) => this.point(row, column),
      leave: () => this.leave(),
      open: (row: number, column: number) => this.open(row, column),
    };
    this.grid = view.bars ? new Bars(view, labelOf(view), listener) : new Grid(view, labelOf(view), room, listener);
    fill(this.body, this.grid.element);
    this.tell(null);
    if (had !== undefined) this.element.querySelector<HTMLElement>(`[data-choice="${CSS.escape(had)}"]`)?.focus();
    if (inGrid) this.grid.focus();
  }

  private choosers(choice: Choice): HTMLElement {
    const { look, keeper } = state;
    const bar = make("div", { class: "choosers" });
    if (look === null) return bar;
    const across = choice.kind === "cross" || choice.kind === "pooling";
    const layers = layersOf(look, choice.kind);
    const heads = layers.find(map => map.layer === choice.layer)?.heads ?? 1;
    bar.append(
      ...[
        chooser("attention", kindsOf(look).map(kind => [kind, say(kind)]), choice.kind, kind => choose({ kind: kind as Choice["kind"] })),
        chooser("layer", layers.map(map => [String(map.layer), String(map.layer)]), String(choice.layer), layer => choose({ layer: Number(layer) })),
        heads > 1 && chooser("head", headsOf(heads), String(choice.head), head => choose({ head: head === "null" ? null : Number(head) })),
        across && chooser("lens", (keeper?.model?.lenses ?? []).map(lens => [lens, isKey(lens) ? say(lens) : lens]), choice.lens, lens => choose({ lens })),
        canReread(look, choice.kind) && chooser("reading", [["output", say("readingOutput")], ["input", say("readingInput")]], choice.reading, reading => choose({ reading: reading as Choice["reading"] })),
        hasPieces() && chooser("unit", [["", say("pieces")], ["words", say("whole")]], choice.words ? "words" : "", unit => choose({ words: unit === "words" })),
      ].filter(one => one instanceof HTMLElement),
    );
    return bar;
  }

  private point(row: number, column: number): void {
    this.tell({ row, column });
    this.mine = this.inTokens(row, column);
    change({ pointed: this.mine });
  }

  private leave(): void {
    this.mine = null;
    change({ pointed: null });
  }

  private open(row: number, column: number): void {
    const { row: r, column: c } = this.inTokens(row, column);
    if (r !== null && c !== null) change({ opened: { row: r, column: c } });
  }

  /** The first token of the row and of the column. */
  private inTokens(row: number, column: number): { row: number; column: number } {
    const { view, look } = state;
    if (view === null || look === null || view.kind === null || view.merge === UNMERGED || look.merge !== UNMERGED) return { row, column };
    const sides = view.kind === "self" ? look.tokens.source : look.tokens.target;
    const columns = view.kind === "masked" ? look.tokens.input : look.tokens.source;
    return { row: wordsOf(sides)[row]?.[0] ?? row, column: wordsOf(columns)[column]?.[0] ?? column };
  }

  /** Words that are pointed at elsewhere are shown here, too. */
  private follow(): void {
    const { pointed, view } = state;
    if (view === null || this.grid === null || pointed === this.mine || view.merge !== UNMERGED) return;
    if (view.kind !== "cross" && view.kind !== "pooling") return;
    this.grid.hint(pointed?.row ?? null, pointed?.column ?? null);
  }

  /** The number of a cell, with what is known of its row. */
  private tell(cell: { row: number; column: number } | null): void {
    const { view } = state;
    if (view === null) return;
    if (cell === null) {
      fill(this.says, say("mapPoint"), " ", state.keeper?.model ? say("mapHint") : "");
      return;
    }
    const value = view.cells[cell.row * view.columns + cell.column] ?? 0;
    const [row, column] = [view.rowNames[cell.row] ?? "", view.columnNames[cell.column] ?? ""];
    const rest = view.bars || view.signed ? [] : this.restOf(view, cell.row);
    fill(
      this.says,
      ...(view.bars ? [] : [make("b", {}, row), say("looksAt")]),
      make("b", {}, column),
      ": ",
      make("b", {}, number(value, exact(value))),
      ...rest.flatMap(one => [" · ", one]),
    );
  }

  private restOf(view: View, row: number): Child[] {
    const line = view.cells.subarray(row * view.columns, (row + 1) * view.columns);
    const spread = spreadOf(line);
    const step = view.steps[row];
    const found: Child[] = [say("rowSum", { sum: line.reduce((sum, one) => sum + one, 0).toFixed(3) })];
    if (spread !== null) found.push(say("entropy", { spread: spread.toFixed(2) }));
    if (step !== undefined) {
      const others = step.candidates.filter(one => one.token !== step.token).slice(0, 3);
      const words = others.map(one => `${visible(one.token)} ${exact(one.probability)}`).join(", ");
      found.push(`p ${exact(step.probability)}${words ? `, ${say("elseWords", { words })}` : ""}`);
    }
    return found;
  }
}

function headsOf(heads: number): [string, string][] {
  return [["null", say("mean")], ...Array.from({ length: heads }, (_, head): [string, string] => [String(head), String(head)])];
}

function hasPieces(): boolean {
  const { look } = state;
  if (look === null || look.merge !== UNMERGED) return false;
  return [look.tokens.source, look.tokens.target].some(tokens => wordsOf(tokens).length < tokens.length);
}

/** A few choices side by side; many as a list. */
export function chooser(name: Key, choices: readonly (readonly [string, string])[], current: string, act: (value: string) => void): HTMLElement | null {
  if (choices.length < 2) return null;
  const label = say(name);
  if (choices.length > 9 || name === "lens" || name === "attention") {
    const options = choices.map(([value, text]) => make("option", { value, selected: value === current }, text));
    const list = make("select", { "data-choice": name, "aria-label": label, onchange: event => act((event.target as HTMLSelectElement).value) }, ...options);
    return make("label", { class: "field", "data-name": name }, make("span", {}, label), list);
  }
  const field = make("fieldset", { class: "field", "data-name": name }, make("legend", {}, label));
  for (const [value, text] of choices) {
    const input = make("input", { type: "radio", name, value, checked: value === current, "data-choice": `${name} ${value}`, "aria-label": `${label} ${text}` });
    input.addEventListener("change", () => act(value));
    field.append(make("label", { class: "choice" }, input, make("span", {}, text)));
  }
  return field;
}

function toldOf(view: View): Key | null {
  if (view.kind === null) return null;
  if (view.lens !== "raw") return "mapToldLens";
  return ({ cross: "mapTold", pooling: "mapToldPooling", self: "mapToldSelf", masked: "mapToldMasked" } as const)[view.kind];
}

export function nameOf(view: View): string {
  return view.kind === null ? view.title : say(view.kind);
}

function labelOf(view: View): string {
  return say("mapLabel", { name: nameOf(view), rows: view.rows, columns: view.columns });
}

/** What is to be known beside a map, a line each: names and what is said of them. */
export function notes(view: View): [string, string][] {
  if (view.kind === null) {
    return view.notes.map(note => {
      const [name = "", ...text] = note.split(": ");
      return text.length ? [name, text.join(": ")] : ["", note];
    });
  }
  const found: [string, string][] = [];
  if (view.lens !== "raw") {
    const key = `told ${view.lens}`;
    found.push([say("noteLens"), isKey(key) ? say(key) : view.lens]);
  }
  found.push([say("noteReading"), `${readingOf(view)}${view.signed || view.lens !== "raw" ? "" : `; ${sumsOf(view)}`}`]);
  found.push([say("noteMerging"), view.merge === UNMERGED ? say("unmerged") : view.merge === MERGED ? say("merged") : view.merge]);
  if (view.kind === "pooling" && state.look?.readers) found.push([say("noteReaders"), readersOf(state.look.readers)]);
  if (view.kind === "cross" && view.lens === "raw" && view.reading !== INPUT && state.look && state.gaze) found.push(...coverageNotes());
  return found;
}

/** Who decided, in the language of the page. What another program has written stands as it is. */
function readersOf(told: string): string {
  const [, deep, wide] = READERS.exec(told) ?? [];
  return deep !== undefined && wide !== undefined ? say("readersTold", { deep, wide }) : visible(told);
}

function readingOf(view: View): string {
  if (view.kind === "self") return say("readSelf");
  if (view.kind === "pooling") return say("readPooling");
  return view.reading === OUTPUT ? say("readOutput") : view.reading === INPUT ? say("readInput") : visible(view.reading);
}

function sumsOf(view: View): string {
  const sums = Array.from({ length: view.rows }, (_, row) => view.cells.subarray(row * view.columns, (row + 1) * view.columns).reduce((sum, one) => sum + one, 0));
  if (sums.every(sum => Math.abs(sum - 1) < 5e-3)) return say("sumsEven");
  const [low, high] = [Math.min(...sums).toFixed(2), Math.max(...sums).toFixed(2)];
  return say("sumsOdd", { sums: low === high ? low : `${low} … ${high}` });
}

function coverageNotes(): [string, string][] {
  if (state.look === null || state.gaze === null) return [];
  const covered = coverageOf(state.look, state.gaze);
  const never = covered.filter(one => one.largest < LITTLE).map(one => one.word);
  const often = covered.filter(one => one.total >= OFTEN).map(one => `${one.word} (${one.total.toFixed(1)})`);
  const found: [string, string][] = [];
  if (never.length) found.push([say("noteNever"), say("neverTold", { words: never.join(", ") })]);
  if (often.length) found.push([say("noteOften"), say("oftenTold", { words: often.join(", ") })]);
  return found;
}

function notesOf(view: View): HTMLElement {
  const rows = notes(view).flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]);
  const ramp = make("span", { class: "ramp", role: "img", "aria-label": `${say("noteColours")} ${view.signed ? -view.high : 0} … ${view.high}` });
  ramp.style.background = gradient(view.high, view.signed, state.night);
  const scale = [make("span", {}, String(view.signed ? -view.high : 0).replace("-", "−")), ramp, make("span", {}, String(view.high))];
  rows.unshift(make("dt", {}, say("noteColours")), make("dd", { class: "scale" }, ...scale));
  if (!view.signed && !view.bars) rows.push(make("dt", {}, say("noteEntropy")), make("dd", {}, say("entropyTold")));
  if (state.look?.score != null && view.kind !== null && !view.bars) rows.push(make("dt", {}, say("noteScore")), make("dd", {}, say("scoreTold", { score: fixed(state.look.score, 3) })));
  return make("dl", { class: "notes" }, ...rows);
}
