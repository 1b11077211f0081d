/* A word is swapped, taken out or put in; the map of what changed. */

import { fill, make } from "../dom";
import { Grid } from "../grid";
import type { Difference, Edit } from "../keeper";
import { exact, highOf } from "../numbers";
import type { View, Word } from "../record";
import { refusalOf, type Refused } from "../refusals";
import { say } from "../say";
import { listen, state } from "../state";
import { visible } from "../tokens";
import { gradient } from "../colours";
import { button, fillSection, section, type Part } from "./part";

export class EditPart implements Part {
  readonly element = section("edit");
  private readonly field = make("input", { type: "text", id: "edit-word", autocomplete: "off", spellcheck: "false", maxlength: 100 });
  private readonly says = make("p", { class: "says", "aria-live": "polite" });
  private readonly result = make("div", { class: "result" });
  private word = 0;
  private found: Difference | null = null;
  private problem: Refused | null = null;
  private turn = 0;
  private width = 0;

  constructor() {
    listen(["look"], () => {
      [this.word, this.found, this.problem] = [this.firstWord(), null, null];
      this.field.value = "";
      this.turn++;
      this.draw();
    });
    listen(["language", "night"], () => this.draw());
    new ResizeObserver(() => {
      if (Math.abs(this.element.clientWidth - this.width) > 1) this.drawResult();
    }).observe(this.element);
    this.field.addEventListener("keydown", event => {
      if (event.key === "Enter" && !event.isComposing) void this.edit("swap");
    });
    this.draw();
  }

  private get words(): Word[] {
    return state.look?.words.source ?? [];
  }

  /** The last word is as good as any, and mostly one that means something. */
  private firstWord(): number {
    return Math.max(0, this.words.length - 1);
  }

  private draw(): void {
    const shown = state.look !== null && state.look.maps.length > 0 && state.keeper?.model != null && this.words.length > 0;
    this.element.hidden = !shown;
    if (!shown) return;
    const chips = this.words.map((word, place) => button(visible(word.text), () => this.choose(place), { class: "word", "aria-pressed": String(place === this.word), "data-word": String(place) }));
    const choice = make("div", { class: "picker", role: "group", "aria-label": say("editChoose") }, ...chips);
    this.field.setAttribute("aria-label", say("editBy"));
    this.field.placeholder = say("editBy");
    const act = (kind: Edit["kind"], text: string): HTMLElement => button(text, () => void this.edit(kind), { class: "chip", id: `edit-${kind}` });
    const tools = make("div", { class: "foot" }, this.field, act("swap", say("swap")), act("insert", say("insert")), act("delete", say("remove")));
    fillSection(this.element, "editTitle", "editTold", choice, tools, this.says, this.result);
    this.drawResult();
  }

  private choose(place: number): void {
    this.word = place;
    for (const chip of this.element.querySelectorAll<HTMLElement>(".picker .word")) chip.setAttribute("aria-pressed", String(Number(chip.dataset["word"]) === place));
    this.field.focus();
  }

  private async edit(kind: Edit["kind"]): Promise<void> {
    const { keeper, choice } = state;
    const word = this.words[this.word];
    const by = this.field.value.trim();
    if (!keeper?.model || choice === null || word === undefined) return;
    if (kind !== "delete" && !by) return this.field.focus();
    const mine = ++this.turn;
    fill(this.says, say("working"));
    try {
      const across = choice.kind === "cross" || choice.kind === "pooling";
      const found = await keeper.model.compare({ kind, places: word.places, by }, across ? choice : { ...choice, layer: -1 });
      if (mine !== this.turn) return;
      [this.found, this.problem] = [found, null];
    } catch (error) {
      if (mine !== this.turn) return;
      [this.found, this.problem] = [null, refusalOf(error)];
    }
    this.drawResult();
  }

  private drawResult(): void {
    this.width = this.element.clientWidth;
    const { found } = this;
    if (found === null) {
      fill(this.says, this.problem?.told);
      this.says.classList.toggle("problem", this.problem !== null);
      return fill(this.result);
    }
    this.says.classList.remove("problem");
    fill(this.says, say(found.differs ? "otherOutput" : "sameOutput"));
    const view = viewOf(found);
    const room = this.element.clientWidth - 2 * parseFloat(getComputedStyle(this.element).paddingLeft || "0");
    const point = (row: number, column: number): void => {
      const value = view.cells[row * view.columns + column] ?? 0;
      fill(this.says, make("b", {}, view.rowNames[row] ?? ""), say("looksAt"), make("b", {}, view.columnNames[column] ?? ""), ": ", make("data", { value }, value > 0 ? `+${exact(value)}` : exact(value)));
    };
    const grid = new Grid(view, say("mapLabel", { name: say("difference"), rows: view.rows, columns: view.columns }), room, { point });
    const ramp = make("span", { class: "ramp" });
    ramp.style.background = gradient(view.high, true, state.night);
    const outputs = make("dl", { class: "outputs" }, make("dt", {}, say("before")), make("dd", {}, visible(found.output_before)), make("dt", {}, say("after")), make("dd", { class: found.differs ? "changed" : "" }, visible(found.output_after)));
    fill(this.result, outputs, make("div", { class: "scroll" }, grid.element), make("p", { class: "scale" }, `−${view.high}`, ramp, `+${view.high}`), make("p", { class: "quiet" }, say("differenceNote")));
  }
}

function viewOf(found: Difference): View {
  const cells = Float32Array.from(found.difference.flat());
  const names = { rowNames: found.rows.map(visible), columnNames: found.columns.map(visible) };
  const base = { title: "", kind: null, layer: 0, head: null, lens: "raw", bars: false, reading: "", merge: "", notes: [], steps: [] };
  return { ...base, ...names, rows: found.rows.length, columns: found.columns.length, cells, signed: true, high: highOf(cells, true) };
}
