/* A classifier's text: words shaded by their weight, erased by a click; what it says, live. */

import { isNight } from "../colours";
import { fill, make, number } from "../dom";
import { shade } from "../grid";
import type { Label, OtherMap } from "../keeper";
import { exact, fixed, highOf } from "../numbers";
import { betweenWords } from "../record";
import { problemOf } from "../refusals";
import { say } from "../say";
import { change, listen, state } from "../state";
import { visible } from "../tokens";
import { button, fillSection, section, type Part } from "./part";

const SHOWN = 8; // labels

export class ErasePart implements Part {
  readonly element = section("erase");
  private readonly text = make("p", { class: "words" });
  private readonly answer = make("div", { class: "answer" });
  private readonly other = make("div", { class: "other", "aria-live": "polite" });
  private readonly said = make("p", { class: "says", "aria-live": "polite" });
  private erased = new Set<number>();
  private now: Label[] = [];
  private found: OtherMap | null = null;
  private turn = 0;

  constructor() {
    listen(["look", "keeper"], () => {
      this.erased = new Set();
      this.now = [];
      this.found = null;
      this.turn++;
    });
    listen(["gaze", "look", "language", "night"], () => this.draw());
    listen(["pointed"], () => this.light());
    this.draw();
  }

  private draw(): void {
    const { look, gaze, keeper } = state;
    const pools = look?.maps.some(map => map.kind === "pooling") ?? false;
    const classifies = keeper?.model?.task === "classify" || (look !== null && (look.labels.length > 0 || pools));
    this.element.hidden = !classifies;
    if (!classifies || look === null) return;
    const between = pools && gaze !== null && gaze.rows === 1 ? betweenWords(look, gaze) : null;
    const weights = look.words.source.map((_, place) => between?.cells[place] ?? 0);
    const high = highOf(weights, false);
    const words = look.words.source.map(({ text, places }, place) => {
      const word = this.word(visible(text), place, places[0] ?? 0);
      if (between !== null) shade(word, weights[place] ?? 0, { high, signed: false }, isNight());
      return word;
    });
    fill(this.text, ...words.flatMap(word => [word, " "]));
    const asked = keeper?.model ?? null;
    const search = asked && pools ? make("div", { class: "ask" }, button(say("otherMap"), () => void this.search(), { class: "chip", id: "other-map" }), make("span", { class: "quiet" }, say("otherTold"))) : null;
    const tools = make("div", { class: "erase-text" }, this.text, this.said, search, this.other);
    fillSection(this.element, "eraseTitle", asked ? "eraseTold" : "eraseOffline", make("div", { class: "bench" }, tools, this.answer));
    this.drawAnswer();
    this.drawOther();
  }

  private word(text: string, place: number, token: number): HTMLElement {
    const hover = { onmouseenter: () => change({ pointed: { row: 0, column: token } }), onmouseleave: () => change({ pointed: null }) };
    const common = { class: "word", "data-word": place, "data-token": token, ...hover };
    if (!state.keeper?.model) return make("span", common, text);
    return make("button", { type: "button", ...common, "aria-pressed": String(this.erased.has(place)), title: say("erase", { word: text }), onclick: () => void this.toggle(place) }, text);
  }

  private light(): void {
    const column = state.pointed?.column ?? null;
    for (const word of this.text.querySelectorAll<HTMLElement>(".word")) word.classList.toggle("lit", column !== null && Number(word.dataset["token"]) === column);
  }

  private async toggle(place: number): Promise<void> {
    if (!this.erased.delete(place)) this.erased.add(place);
    for (const word of this.text.querySelectorAll<HTMLElement>(".word")) word.setAttribute("aria-pressed", String(this.erased.has(Number(word.dataset["word"]))));
    await this.ask();
  }

  private async ask(): Promise<void> {
    const { look, keeper } = state;
    const mine = ++this.turn;
    const left = (look?.words.source ?? []).filter((_, place) => !this.erased.has(place)).map(word => word.text);
    this.now = [];
    if (this.erased.size && left.length && keeper?.model) {
      try {
        const now = await keeper.model.classify(left.join(" "));
        if (mine !== this.turn) return;
        this.now = now;
      } catch (error) {
        if (mine === this.turn) fill(this.said, problemOf(error));
        return;
      }
    }
    this.drawAnswer();
  }

  private drawAnswer(): void {
    const { look } = state;
    if (look === null) return;
    const changed = new Map(this.now.map(one => [one.label, one.probability]));
    const most = ({ label, probability }: Label): number => Math.max(probability, changed.get(label) ?? 0);
    const labels = [...look.labels].sort((one, other) => most(other) - most(one)).slice(0, SHOWN);
    const lines = labels.map(({ label, probability }) => probabilityLine(visible(label), probability, changed.get(label)));
    fill(this.answer, make("h3", {}, say("probabilities")), make("div", { class: "probabilities" }, ...lines));
    const words = look.words.source.filter((_, place) => this.erased.has(place)).map(word => `«${visible(word.text)}»`).join(" ");
    const best = [...this.now].sort((one, other) => other.probability - one.probability)[0];
    if (best) fill(this.said, say("erasedNow", { words, label: visible(best.label), p: fixed(best.probability, 3) }), " ", button(say("restore"), () => void this.restore(), { class: "chip" }));
    else if (this.erased.size && this.erased.size === look.words.source.length) fill(this.said, say("erasedAll"), " ", button(say("restore"), () => void this.restore(), { class: "chip" }));
    else fill(this.said);
  }

  private async restore(): Promise<void> {
    this.erased.clear();
    this.draw();
    await this.ask();
    this.text.querySelector<HTMLElement>(".word")?.focus();
  }

  private async search(): Promise<void> {
    const { keeper } = state;
    fill(this.other, make("p", { class: "quiet" }, say("working")));
    try {
      const found = (await keeper?.model?.otherMap()) ?? null;
      if (keeper !== state.keeper) return;
      this.found = found;
      this.drawOther();
    } catch (error) {
      if (keeper === state.keeper) fill(this.other, make("p", { class: "problem" }, problemOf(error)));
    }
  }

  private drawOther(): void {
    const { found } = this;
    if (found === null) return fill(this.other);
    const parts = { jsd: fixed(found.jsd), tvd: fixed(found.tvd, 3), tried: found.tried.toLocaleString("en") };
    const most = Math.max(...found.own, ...found.other) || 1;
    const bar = (value: number, name: string): HTMLElement => {
      const tick = make("span", { class: `tick ${name}` });
      tick.style.width = `${(100 * value) / most}%`;
      return make("td", { class: "track" }, tick, number(value, exact(value)));
    };
    const rows = found.source_tokens.map((token, place) => make("tr", {}, make("th", { scope: "row" }, visible(token)), bar(found.own[place] ?? 0, "own"), bar(found.other[place] ?? 0, "else")));
    const head = make("tr", {}, make("th", {}), make("th", { scope: "col" }, say("own")), make("th", { scope: "col" }, say("other")));
    fill(this.other, make("p", { class: "verdict" }, say(found.found ? "otherFound" : "otherNone", parts)), make("table", { class: "two" }, make("thead", {}, head), make("tbody", {}, ...rows)));
  }
}

/** A label, or a word, with its probability as a bar; a mark where it was before. */
export function probabilityLine(name: string, before: number, after: number | undefined): HTMLElement {
  const value = after ?? before;
  const tick = make("span", { class: "tick" });
  tick.style.width = `${100 * value}%`;
  const was = make("span", { class: "was" });
  was.style.left = `${100 * before}%`;
  const moved = after !== undefined;
  return make(
    "div",
    { class: "probability", "data-name": name },
    make("span", { class: "name", title: name }, name),
    make("span", { class: "track", "aria-hidden": "true" }, tick, moved && was),
    make("span", { class: "number" }, moved && make("span", { class: "before" }, number(before, fixed(before, 3)), " → "), number(value, fixed(value, 3))),
  );
}
