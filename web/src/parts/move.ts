/* A row of attention is dragged elsewhere, and the model goes on from there. */

import { fill, later, make, number } from "../dom";
import type { Intervention } from "../keeper";
import { exact, fixed } from "../numbers";
import { problemOf } from "../refusals";
import { say } from "../say";
import { listen, state } from "../state";
import { visible } from "../tokens";
import { button, fillSection, section, type Part } from "./part";
import { probabilityLine } from "./erase";

const QUIET = 120; // milliseconds without a move before the model is asked
const FINE = 1000; // steps of a slider

export class MovePart implements Part {
  readonly element = section("move");
  private readonly bars = make("div", { class: "sliders" });
  private readonly result = make("div", { class: "result", "aria-live": "polite" });
  private readonly ask = later(QUIET, () => void this.run());
  private step = 0;
  private row: number[] = [];
  private found: Intervention | null = null;
  private turn = 0;

  constructor() {
    listen(["gaze", "look"], () => {
      this.step = 0;
      this.reset();
      this.draw();
    });
    listen(["opened"], () => {
      if (state.opened && (state.choice?.kind === "cross") && state.opened.row !== this.step) this.choose(state.opened.row);
    });
    listen(["language", "night"], () => this.draw());
    this.draw();
  }

  private own(): number[] {
    const { gaze } = state;
    return gaze === null ? [] : Array.from(gaze.cells.subarray(this.step * gaze.columns, (this.step + 1) * gaze.columns));
  }

  private reset(): void {
    this.turn++;
    this.row = this.own();
    this.found = null;
  }

  private choose(step: number): void {
    this.step = step;
    this.reset();
    this.draw();
  }

  private draw(): void {
    const { look, gaze, keeper } = state;
    const shown = look !== null && gaze !== null && keeper?.model != null && gaze.columns === look.names.source.length;
    this.element.hidden = !shown;
    if (!shown) return;
    const labels = keeper?.model?.task === "classify";
    const options = look.names.target.map((name, place) => make("option", { value: place, selected: place === this.step }, visible(name)));
    const which = make("label", { class: "field" }, make("span", {}, say("moveStep")), make("select", { id: "move-step", onchange: event => this.choose(Number((event.target as HTMLSelectElement).value)) }, ...options));
    const even = button(say("moveEven"), () => this.set(this.row.map(() => this.total() / this.row.length)), { class: "chip", id: "move-even" });
    const back = button(say("moveBack"), () => this.set(this.own()), { class: "chip", id: "move-back" });
    fill(this.bars, ...look.names.source.map((name, place) => this.slider(visible(name), place)));
    fillSection(this.element, "moveTitle", labels ? "moveToldLabel" : "moveTold", make("div", { class: "foot" }, !labels && which, even, back), make("div", { class: "movers" }, this.bars, this.result));
    this.refresh();
    this.drawResult();
  }

  private slider(name: string, place: number): HTMLElement {
    const range = make("input", { type: "range", min: 0, max: FINE, step: 1, "data-place": place, "aria-label": say("moveWeight", { word: name }) });
    range.addEventListener("input", () => this.drag(place, Number(range.value) / FINE));
    const all = button("⇥", () => this.set(this.row.map((_, other) => (other === place ? this.total() : 0))), { class: "all", title: say("moveOn", { word: name }), "aria-label": say("moveOn", { word: name }) });
    return make("div", { class: "slider" }, make("span", { class: "name", title: name }, name), range, make("span", { class: "number" }), all);
  }

  /** What a row sums to stays what it was. */
  private total(): number {
    return this.own().reduce((sum, one) => sum + one, 0) || 1;
  }

  /** One word gets this share; the others share the rest as they did, or alike if they had nothing. */
  private drag(place: number, share: number): void {
    const total = this.total();
    const others = this.row.reduce((sum, one, other) => (other === place ? sum : sum + one), 0);
    const rest = total * (1 - share);
    this.set(this.row.map((one, other) => (other === place ? total * share : others > 0 ? (one / others) * rest : rest / (this.row.length - 1))));
  }

  private set(row: number[]): void {
    this.row = row;
    this.refresh();
    this.ask();
  }

  private refresh(): void {
    const total = this.total();
    const own = this.own();
    [...this.bars.children].forEach((line, place) => {
      const value = this.row[place] ?? 0;
      const range = line.querySelector("input");
      if (range && document.activeElement !== range) range.value = String(Math.round((FINE * value) / total));
      if (range && document.activeElement === range && Math.abs(Number(range.value) / FINE - value / total) > 1.5 / FINE) range.value = String(Math.round((FINE * value) / total));
      range?.style.setProperty("--share", `${(100 * value) / total}%`);
      range?.style.setProperty("--was", `${(100 * (own[place] ?? 0)) / total}%`);
      range?.setAttribute("aria-valuetext", exact(value));
      const shown = line.querySelector(".number");
      if (shown) fill(shown, number(value, fixed(value, 3)));
    });
  }

  private async run(): Promise<void> {
    const { keeper, choice } = state;
    const mine = ++this.turn;
    if (!keeper?.model || choice === null) return;
    const own = this.own();
    if (this.row.every((one, place) => Math.abs(one - (own[place] ?? 0)) < 1e-6)) {
      this.found = null;
      return this.drawResult();
    }
    try {
      const across = choice.kind === "cross" || choice.kind === "pooling";
      const found = await keeper.model.intervene(this.step + 1, this.row, across ? choice : { ...choice, layer: -1, head: null });
      if (mine !== this.turn) return;
      this.found = found;
      this.drawResult();
    } catch (error) {
      if (mine === this.turn) fill(this.result, make("p", { class: "problem" }, problemOf(error)));
    }
  }

  private drawResult(): void {
    const { found } = this;
    const effect = found?.steps[0];
    if (!found || !effect) {
      const { look } = state;
      const before = look?.target ?? "";
      return fill(this.result, make("p", { class: "output" }, visible(before)), make("p", { class: "quiet" }, say("moveIdle")));
    }
    const old = new Map(effect.candidates_before.map(one => [one.token, one.probability]));
    const now = new Map(effect.candidates_after.map(one => [one.token, one.probability]));
    const names = [...new Set([...effect.candidates_after, ...effect.candidates_before].map(one => one.token))].slice(0, 6);
    const lines = names.map(name => probabilityLine(visible(name), old.get(name) ?? 0, now.get(name) ?? 0));
    fill(
      this.result,
      make("p", { class: found.differs ? "output changed" : "output" }, visible(found.output_after)),
      make("p", { class: "quiet" }, say(found.differs ? "otherOutput" : "sameOutput"), found.differs && ` ${say("before")}: ${visible(found.output_before)}`),
      make("p", { class: "effect" }, say("moveP", { word: visible(effect.token) }), " ", number(effect.before, fixed(effect.before, 3), { class: "p-before" }), " → ", number(effect.after, fixed(effect.after, 3), { class: "p-after" }), " · KL ", number(effect.kl, fixed(effect.kl, 3))),
      make("h3", {}, say("moveNext")),
      make("div", { class: "probabilities" }, ...lines),
    );
  }
}
