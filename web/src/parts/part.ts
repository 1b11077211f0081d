/* A part of the page: a section with a title and a sentence on what it shows. */

import { fill, make, type Child } from "../dom";
import { say, type Key } from "../say";

/** A section that knows how to draw itself anew, as when the language changes. */
export interface Part {
  readonly element: HTMLElement;
}

/** The section of a part; empty until it is drawn. */
export function section(name: string): HTMLElement {
  return make("section", { class: `part ${name}`, id: name, "aria-labelledby": `${name}-title` });
}

/** Title, sentence, and what stands below them. */
export function fillSection(element: HTMLElement, title: Key, told: Key | null, ...children: Child[]): void {
  const heading = make("h2", { id: `${element.id}-title` }, say(title));
  fill(element, make("header", {}, heading, told !== null && make("p", { class: "told" }, ...coded(say(told)))), ...children);
}

/** A sentence in which `this` is set as a command. */
export function coded(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : part));
}

export function button(text: string, act: () => void, attributes: Record<string, string | boolean> = {}): HTMLButtonElement {
  return make("button", { type: "button", ...attributes, onclick: act }, text);
}
