/* A sentence is written, and a model reads it. */

import { fill, later, make } from "../dom";
import { refusalOf, type Refused } from "../refusals";
import { say } from "../say";
import { begin, lookAt, served, wantsKey } from "../serving";
import { useKey, type ModelInfo } from "../server";
import { change, listen, state } from "../state";
import { visible } from "../tokens";
import { button, coded, fillSection, section, type Part } from "./part";

const QUIET = 450; // milliseconds without a key before a sentence is read

export class ComposePart implements Part {
  readonly element = section("compose");
  private readonly text = make("textarea", { rows: 1, spellcheck: "false", autocomplete: "off", id: "text", maxlength: 4000 });
  private readonly below = make("div", { class: "below", "aria-live": "polite" });
  private readonly look = later(QUIET, () => {
    if (this.text.value !== served.text) void lookAt(this.text.value); // Enter may have been quicker
  });
  private locked = false;

  constructor() {
    this.text.addEventListener("input", () => {
      this.grow();
      this.look();
    });
    this.text.addEventListener("keydown", event => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void lookAt(this.text.value);
    });
    listen(["language"], () => this.draw());
    listen(["look", "busy", "problem"], () => this.tell());
    new ResizeObserver(() => this.grow()).observe(this.element);
    this.draw();
    void this.start();
  }

  private async start(): Promise<void> {
    try {
      await begin();
      this.locked = false;
      this.text.value = served.text;
      this.draw();
      await lookAt(served.text);
    } catch (error) {
      this.locked = wantsKey(error);
      change({ problem: refusalOf(error) });
      this.draw();
    }
  }

  private draw(): void {
    const { model } = served;
    const classifies = model?.task === "classify";
    if (this.locked) {
      fillSection(this.element, "translateTitle", null, this.keyForm(), this.below);
      return this.tell();
    }
    this.text.setAttribute("aria-label", say("sentence"));
    this.text.lang = model?.source ?? "";
    const foot = make("div", { class: "foot" }, this.models(), button(say("look"), () => void lookAt(this.text.value), { class: "primary" }));
    fillSection(this.element, classifies ? "classifyTitle" : "translateTitle", classifies ? "classifyTold" : "translateTold", this.text, foot, this.examples(model), this.below);
    this.grow();
    this.tell();
  }

  private models(): HTMLElement {
    const options = served.models.map(model => make("option", { value: model.name, selected: model === served.model }, `${visible(model.name)} · ${directionOf(model)}`));
    const act = (event: Event): void => this.use((event.target as HTMLSelectElement).value);
    return make("label", { class: "field model" }, make("span", {}, say("model")), make("select", { id: "model", onchange: act }, ...options));
  }

  private use(name: string): void {
    const old = served.model;
    served.model = served.models.find(model => model.name === name) ?? null;
    // What another kind of model reads is another kind of text.
    if (old?.task !== served.model?.task || old?.source !== served.model?.source) this.text.value = served.model?.examples[0] ?? this.text.value;
    change({ choice: null });
    this.draw();
    this.element.querySelector<HTMLElement>("#model")?.focus();
    void lookAt(this.text.value);
  }

  private examples(model: ModelInfo | null): HTMLElement | null {
    if (!model?.examples.length) return null;
    const chips = model.examples.slice(0, 4).map(text => button(visible(text), () => this.write(text), { class: "chip" }));
    return make("p", { class: "examples" }, make("span", {}, say("examples")), ...chips);
  }

  /** Another text in place of this one. */
  private write(text: string): void {
    this.text.value = text;
    this.grow();
    void lookAt(text);
  }

  private keyForm(): HTMLElement {
    const field = make("input", { type: "password", autocomplete: "off", "aria-label": say("key"), placeholder: say("key") });
    const act = (event: Event): void => {
      event.preventDefault();
      useKey(field.value);
      void this.start();
    };
    return make("form", { class: "foot", onsubmit: act }, field, make("button", { class: "primary" }, say("open")));
  }

  private tell(): void {
    const { problem, busy, look } = state;
    this.element.classList.toggle("busy", busy);
    if (problem) this.tellOf(problem);
    else if (busy && look === null) fill(this.below, make("p", { class: "quiet" }, say("working")));
    else if (look === null) fill(this.below, served.models.length > 0 && make("p", { class: "quiet" }, say("empty")));
    else fill(this.below, ...look.unknown.map(({ word, offers }) => this.stranger(word, offers)));
  }

  /** What went wrong; where asking again can help, it is offered. */
  private tellOf(problem: Refused): void {
    const again = (): void => void (served.models.length ? lookAt(this.text.value) : this.start());
    fill(this.below, make("p", { class: "problem", role: "alert" }, ...coded(problem.told)), problem.passes && button(say("again"), again, { class: "chip", id: "again" }));
  }

  /** A word that the model never saw, with some that it knows. */
  private stranger(word: string, offers: string[]): HTMLElement {
    const chips = offers.map(other => button(visible(other), () => this.write(replaced(this.text.value, word, other)), { class: "chip", "aria-label": say("replaceBy", { word, other }) }));
    return make("p", { class: "unknown" }, say("unknown"), " ", make("mark", {}, visible(word)), ", ", say("unknownTold"), chips.length > 0 && make("span", { class: "offers" }, say("unknownInstead"), " ", ...chips));
  }

  private grow(): void {
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight}px`;
  }
}

/** The first whole occurrence of a word, else the first of its letters. */
function replaced(text: string, word: string, other: string): string {
  const parts = text.split(/(\s+)/);
  const place = parts.indexOf(word);
  if (place < 0) return text.replace(word, () => other);
  parts[place] = other;
  return parts.join("");
}

function directionOf(model: ModelInfo): string {
  if (model.task === "classify") return model.labels.map(visible).slice(0, 4).join(" / ") + (model.labels.length > 4 ? " …" : "");
  return `${languageOf(model.source)} → ${languageOf(model.target)}`;
}

function languageOf(code: string | null): string {
  if (!code) return "?";
  try {
    return new Intl.DisplayNames([state.language], { type: "language" }).of(code) ?? code;
  } catch {
    return code; // no code of a language, but what somebody calls one
  }
}
