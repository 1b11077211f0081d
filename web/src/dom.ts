/* Elements. Text only ever becomes a text node: a token cannot be markup. */

export type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined;
export type Attributes = Record<string, Value | ((event: Event) => void)>;

/** An element with its attributes (`onclick: …` listens) and children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  fit(element, attributes, children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** The same of a drawing. */
export function draw<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(SVG, tag);
  fit(element, attributes, children);
  return element;
}

function fit(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...kept(children));
}

/** Those that are there. */
export function kept(children: Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false);
}

/** New children in place of the old ones. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...kept(children));
}

/** A number as it is shown, with all its digits for whoever reads the page by a program. */
export function number(value: number, text: string, attributes: Attributes = {}): HTMLElement {
  return make("data", { value, ...attributes }, text);
}

/** Once things have been quiet for a while. */
export function later(milliseconds: number, action: () => void): () => void {
  let timer = 0;
  return () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(action, milliseconds);
  };
}

/** Clamp. */
export function between(low: number, value: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
