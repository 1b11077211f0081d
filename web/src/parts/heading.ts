/* Of a page in a file: which texts it is about, and which picture is on show. */

import { fill, make } from "../dom";
import type { Inside, PlainPicture } from "../keeper";
import { unpack } from "../numbers";
import type { View } from "../record";
import { say } from "../say";
import { change, listen } from "../state";
import { visible } from "../tokens";
import { coded, type Part } from "./part";
import { chooser } from "./map";

const LONG = 90; // letters

export class HeadingPart implements Part {
  readonly element = make("div", { class: "heading" });
  private shown = 0;

  constructor(private readonly inside: Inside) {
    listen(["language"], () => this.draw());
    if (inside.pictures?.[0]) change({ view: viewOf(inside.pictures[0]) });
    this.draw();
  }

  private draw(): void {
    const { record, pictures = [] } = this.inside;
    const { source = "", target = "" } = record ?? this.inside;
    const text = (tag: "h1" | "p", words: string): HTMLElement => make(tag, { class: words.length > LONG ? `${tag === "h1" ? "source" : "target"} long` : tag === "h1" ? "source" : "target" }, visible(words));
    const choices = pictures.map((one, place) => [String(place), visible(one.title)] as const);
    const choice = chooser("picture", choices, String(this.shown), value => {
      this.shown = Number(value);
      const picture = pictures[this.shown];
      if (picture) change({ view: viewOf(picture) });
      this.draw();
    });
    const told = record ? make("p", { class: "told" }, ...coded(say("offline"))) : null;
    fill(this.element, text("h1", source), target ? text("p", target) : null, told, choice && make("div", { class: "choosers" }, choice));
  }
}

function viewOf(picture: PlainPicture): View {
  const { title, high, notes, signed, bars } = picture;
  const names = { rowNames: picture.rows.map(visible), columnNames: picture.columns.map(visible) };
  const base = { kind: null, layer: 0, head: null, lens: "raw", reading: "", merge: "", steps: [] };
  const matrix = { rows: picture.rows.length, columns: picture.columns.length, cells: unpack(picture.packed) };
  return { ...base, ...names, ...matrix, title: visible(title), high, notes: notes.map(visible), signed, bars };
}
