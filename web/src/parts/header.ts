/* The name, and the switches of language and colours. */

import { draw, fill, make } from "../dom";
import { say, type Key } from "../say";
import { change, listen, state } from "../state";
import type { Part } from "./part";

type Theme = "auto" | "light" | "dark";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** What was chosen the last time; a browser that keeps nothing is asked anew. */
function kept(name: string): string | null {
  try {
    return window.localStorage.getItem(`nungil ${name}`);
  } catch {
    return null;
  }
}
function keep(name: string, value: string): void {
  try {
    window.localStorage.setItem(`nungil ${name}`, value);
  } catch {
    /* A frame of a notebook may have no storage. */
  }
}

export class Header implements Part {
  readonly element = make("header", { class: "top" });
  private theme: Theme = (["auto", "light", "dark"] as const).find(one => one === kept("theme")) ?? "auto";

  constructor() {
    const language = kept("language") ?? navigator.language;
    change({ language: language.startsWith("ko") ? "ko" : "en" });
    this.paint();
    dark.addEventListener("change", () => this.paint());
    listen(["language", "night"], () => this.draw());
    this.draw();
  }

  private paint(): void {
    const night = this.theme === "dark" || (this.theme === "auto" && dark.matches);
    document.documentElement.dataset["theme"] = night ? "dark" : "light";
    change({ night });
  }

  private draw(): void {
    document.documentElement.lang = state.language;
    const had = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["switch"] : undefined;
    const eye = draw("svg", { viewBox: "0 0 32 32", class: "eye", "aria-hidden": "true" }, draw("path", { d: "M2 16Q16 3 30 16Q16 29 2 16Z" }), draw("circle", { cx: 16, cy: 16, r: 5.5 }));
    const mark = make("p", { class: "mark" }, eye, make("b", {}, "nungil"), make("span", { lang: "ko" }, "눈길"), make("i", {}, say("tagline")));
    const languages = group("language", [["en", "English"], ["ko", "한국어"]], state.language, value => {
      keep("language", value);
      change({ language: value === "ko" ? "ko" : "en" });
    });
    const themes = group("theme", (["auto", "light", "dark"] as const).map(one => [one, say(one)]), this.theme, value => {
      this.theme = value as Theme;
      keep("theme", value);
      this.paint();
      this.draw();
    });
    fill(this.element, make("a", { href: "#map", class: "skip" }, say("skip")), mark, make("div", { class: "switches" }, languages, themes));
    if (had !== undefined) this.element.querySelector<HTMLElement>(`[data-switch="${had}"]`)?.focus();
  }
}

function group(name: Key, choices: [string, string][], current: string, act: (value: string) => void): HTMLElement {
  const buttons = choices.map(([value, text]) =>
    make("button", { type: "button", "aria-pressed": String(value === current), "data-switch": `${name}-${value}`, lang: name === "language" ? value : null, onclick: () => act(value) }, text),
  );
  return make("div", { class: "switch", role: "group", "aria-label": say(name) }, ...buttons);
}
