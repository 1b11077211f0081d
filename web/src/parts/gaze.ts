/* Both texts, word by word, with lines to where each word looks. */

import { isNight } from "../colours";
import { draw, fill, make } from "../dom";
import { shade } from "../grid";
import { exact, highOf } from "../numbers";
import { betweenWords, type Matrix, type Word } from "../record";
import { say } from "../say";
import { change, listen, state, type Pointed } from "../state";
import { fillSection, section, type Part } from "./part";

const FAINT = 0.06; // weights below this are no line
const COLUMNS = 16; // more words than this are no two columns, but running text
type Shape = "lines" | "columns" | "text";

export class GazePart implements Part {
  readonly element = section("gaze");
  private between: Matrix | null = null;
  private source: HTMLElement[] = [];
  private target: HTMLElement[] = [];
  private readonly stage = make("div", { class: "stage" });
  private readonly lines = draw("svg", { class: "links", "aria-hidden": "true" });
  private readonly heard = make("p", { class: "unseen", "aria-live": "polite" });
  private width = 0;
  private shape: Shape = "lines";

  constructor() {
    listen(["gaze", "look", "language", "night"], () => this.draw());
    listen(["pointed"], () => this.light());
    new ResizeObserver(() => {
      if (Math.abs(this.stage.clientWidth - this.width) > 1) this.place();
    }).observe(this.stage);
    this.draw();
  }

  private draw(): void {
    const { look, gaze } = state;
    const shown = look !== null && gaze !== null && look.maps.some(map => map.kind === "cross");
    this.element.hidden = !shown;
    if (!shown) return;
    this.between = gaze.rows === look.tokens.target.length ? betweenWords(look, gaze) : null;
    const words = (side: "source" | "target"): HTMLElement[] => look.words[side].map((word, place) => this.word(word, side, place));
    [this.source, this.target] = this.between === null ? [[], []] : [words("source"), words("target")];
    const line = (side: "source" | "target", name: string, spans: HTMLElement[]): HTMLElement =>
      make("div", { class: `line ${side}` }, make("span", { class: "side" }, name), make("p", { class: "words" }, ...spans.flatMap(span => [span, " "])));
    fill(this.stage, this.lines, line("source", say("gazeRead"), this.source), line("target", say("gazeWritten"), this.target));
    fillSection(this.element, "gazeTitle", this.between ? "gazeTold" : "noWords", this.between && this.stage, this.heard);
    this.place();
  }

  private word({ text, places }: Word, side: "source" | "target", place: number): HTMLElement {
    const first = places[0] ?? 0;
    const point = (): void => change({ pointed: side === "source" ? { row: null, column: first } : { row: first, column: null } });
    const leave = (): void => change({ pointed: null });
    const opens = side === "target" && state.keeper?.model != null;
    const open = (): void => {
      if (opens) this.open(place, first);
    };
    const span = make("span", { class: "word", tabindex: place ? -1 : 0, role: opens ? "button" : null, "data-side": side, onclick: open, "data-word": place, onmouseenter: point, onfocus: point, onmouseleave: leave, onblur: leave }, text);
    span.addEventListener("keydown", event => {
      if (event.key === "Enter") open();
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const all = side === "source" ? this.source : this.target;
      const next = event.key === "ArrowDown" && side === "source" ? this.target[0] : event.key === "ArrowUp" && side === "target" ? this.source[0] : all[place + (step ?? NaN)];
      if (next === undefined) return;
      event.preventDefault();
      all.forEach(one => one.setAttribute("tabindex", "-1"));
      next.setAttribute("tabindex", "0");
      next.focus();
    });
    return span;
  }

  /** The arithmetic of a word that is written, at the word that it looks at most. */
  private open(place: number, row: number): void {
    const { between } = this;
    if (between === null || state.choice?.kind !== "cross") return;
    const line = [...between.cells.subarray(place * between.columns, (place + 1) * between.columns)];
    const column = state.look?.words.source[line.indexOf(Math.max(...line))]?.places[0] ?? 0;
    change({ opened: { row, column } });
  }

  /** Two lines where both fit; else two columns, for a phone; else running text without lines. */
  private place(): void {
    if (this.between === null || this.element.hidden) return;
    this.width = this.stage.clientWidth;
    const many = Math.max(this.source.length, this.target.length);
    const wraps = (): boolean => [this.source, this.target].some(words => (words.at(-1)?.offsetTop ?? 0) > (words[0]?.offsetTop ?? 0) + 4);
    const set = (close: boolean): void => this.stage.querySelectorAll(".words").forEach(words => words.classList.toggle("close-set", close));
    this.stage.dataset["shape"] = this.shape = "lines";
    set(false);
    if (wraps()) set(true);
    if (wraps()) this.stage.dataset["shape"] = this.shape = many <= COLUMNS ? "columns" : "text";
    this.light();
  }

  /** The words that the pointed one looks at, or is looked at by; at rest all lines, faintly. */
  private light(): void {
    const { between } = this;
    if (between === null) return;
    const [row, column] = this.pointedWords(state.pointed);
    const both = row !== null && column !== null;
    const weight = (r: number, c: number): number => between.cells[r * between.columns + c] ?? 0;
    const paint = (words: HTMLElement[], weights: (place: number) => number | null): void => {
      const values = words.map((_, place) => weights(place));
      const high = highOf(values.map(value => value ?? 0), false);
      words.forEach((word, place) => {
        const value = values[place] ?? null;
        if (value === null) word.removeAttribute("style");
        else shade(word, value, { high, signed: false }, isNight());
      });
    };
    paint(this.source, place => (row === null ? null : weight(row, place)));
    paint(this.target, place => (column === null || both ? null : weight(place, column)));
    this.source.forEach((word, place) => word.classList.toggle("lit", place === column));
    this.target.forEach((word, place) => word.classList.toggle("lit", place === row));
    this.connect(row, both ? null : column, weight);
    this.hear(row, column, weight);
  }

  private pointedWords(pointed: Pointed | null): [number | null, number | null] {
    const find = (words: Word[] | undefined, token: number | null | undefined): number | null => {
      const found = token === null || token === undefined ? -1 : (words ?? []).findIndex(word => word.places.includes(token));
      return found < 0 ? null : found;
    };
    const kind = state.view?.kind;
    if (kind === "self" || kind === "masked") return [null, null];
    return [find(state.look?.words.target, pointed?.row), find(state.look?.words.source, pointed?.column)];
  }

  private connect(row: number | null, column: number | null, weight: (r: number, c: number) => number): void {
    if (this.shape === "text") return this.lines.replaceChildren();
    const box = this.stage.getBoundingClientRect();
    const [sources, targets] = [this.source, this.target].map(words => words.map(word => word.getBoundingClientRect())) as [DOMRect[], DOMRect[]];
    const paths: SVGElement[] = [];
    targets.forEach((target, r) =>
      sources.forEach((source, c) => {
        const value = weight(r, c);
        const own = (row === null && column === null) || r === row || c === column;
        if (value < FAINT) return;
        const active = own && (row !== null || column !== null);
        const strength = active ? 0.35 + 0.65 * value : own ? 0.08 + 0.37 * value : 0.06;
        const path = this.shape === "lines" ? arcDown(source, target, box) : arcAcross(source, target, box);
        paths.push(draw("path", { d: path, class: active ? "active" : "", "stroke-width": (1 + 4 * value).toFixed(2), "stroke-opacity": strength.toFixed(2) }));
      }),
    );
    this.lines.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    fill(this.lines, ...paths);
  }

  private hear(row: number | null, column: number | null, weight: (r: number, c: number) => number): void {
    const focused = document.activeElement;
    if (!(focused instanceof HTMLElement) || !this.stage.contains(focused) || (row === null) === (column === null)) return;
    const others = row !== null ? this.source.map((word, c) => [word, weight(row, c)] as const) : this.target.map((word, r) => [word, weight(r, column ?? 0)] as const);
    const best = [...others].sort((one, other) => other[1] - one[1]).slice(0, 3).filter(([, value]) => value >= FAINT);
    fill(this.heard, `${focused.textContent}: ${best.map(([word, value]) => `${word.textContent} ${exact(value)}`).join(", ")}`);
  }
}

function arcDown(source: DOMRect, target: DOMRect, box: DOMRect): string {
  const [x1, y1] = [source.left + source.width / 2 - box.left, source.bottom - box.top + 3];
  const [x2, y2] = [target.left + target.width / 2 - box.left, target.top - box.top - 3];
  const middle = (y1 + y2) / 2;
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}C${x1.toFixed(1)} ${middle.toFixed(1)} ${x2.toFixed(1)} ${middle.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
}

function arcAcross(source: DOMRect, target: DOMRect, box: DOMRect): string {
  const [x1, y1] = [source.right - box.left + 4, source.top + source.height / 2 - box.top];
  const [x2, y2] = [target.left - box.left - 4, target.top + target.height / 2 - box.top];
  const middle = (x1 + x2) / 2;
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}C${middle.toFixed(1)} ${y1.toFixed(1)} ${middle.toFixed(1)} ${y2.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
}
