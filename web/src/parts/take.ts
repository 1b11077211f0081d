/* What can be taken away: the page as one file, the map as a figure, the numbers as they are. */

import { fill, make } from "../dom";
import { toPng, toSvg } from "../figure";
import { pageOf, toCsv, toJson, toPage, viewToCsv } from "../files";
import type { Inside, Strip } from "../keeper";
import { betweenWords, pharaoh } from "../record";
import { problemOf } from "../refusals";
import { say } from "../say";
import { listen, state } from "../state";
import { nameOf, notes } from "./map";
import { button, fillSection, section, type Part } from "./part";

type Made = string | Blob | null | Promise<string | Blob | null>;

export class TakePart implements Part {
  readonly element = section("take");
  private readonly says = make("p", { class: "says", role: "status" });

  constructor(
    private readonly inside: Inside,
    private readonly strip: () => Strip | null,
  ) {
    listen(["view", "look", "language"], () => this.draw());
    this.draw();
  }

  private draw(): void {
    const { view, look } = state;
    this.element.hidden = view === null;
    if (view === null) return;
    const cross = look?.maps.some(map => map.kind === "cross") ?? false;
    const buttons = [
      this.button("html", say("takeHtml")),
      this.button("svg", "SVG"),
      this.button("png", "PNG"),
      this.button("csv", "CSV"),
      look !== null && this.button("json", "JSON"),
      cross && this.button("links.txt", say("takeLinks")),
    ];
    fillSection(this.element, "takeTitle", "takeTold", make("div", { class: "takes" }, ...buttons.filter(one => one instanceof HTMLElement)), this.says);
  }

  private button(ending: string, text: string): HTMLElement {
    return button(text, () => void this.take(ending), { class: "chip", "data-take": ending });
  }

  private async take(ending: string): Promise<void> {
    try {
      const made = await this.make(ending);
      if (made === null) return;
      const name = `${slug(state.look?.source ?? state.view?.title ?? "")}.${ending}`;
      save(made instanceof Blob ? made : new Blob([made], { type: TYPES[ending] ?? "text/plain" }), name);
      fill(this.says, say("taken", { name }));
    } catch (error) {
      fill(this.says, problemOf(error));
    }
  }

  /** The strip, and the map that it is of. */
  private placed(): Strip | null {
    const [strip, choice] = [this.strip(), state.choice];
    return strip && choice ? { ...strip, at: { layer: choice.layer, head: choice.head } } : strip;
  }

  private make(ending: string): Made {
    const { view, look, keeper } = state;
    if (view === null) return null;
    if (ending === "svg" || ending === "png") {
      const lines = notes(view).map(([name, text]) => (name ? `${name}: ${text}` : text));
      const title = titleOf();
      return ending === "svg" ? toSvg(view, title, lines) : toPng(view, title, lines);
    }
    if (look === null || keeper === null) return ending === "csv" ? viewToCsv(view) : pageOf(this.inside, document.title);
    if (ending === "html") return toPage(keeper, look, this.placed());
    if (ending === "json") return toJson(keeper, look);
    if (ending === "csv") return toCsv(keeper, look);
    return state.gaze === null ? null : `${pharaoh(betweenWords(look, state.gaze))}\n`;
  }
}

const TYPES: Record<string, string> = { html: "text/html", svg: "image/svg+xml", csv: "text/csv", json: "application/json" };

function titleOf(): string {
  const { view, choice, look } = state;
  if (view === null) return "";
  if (choice === null || view.kind === null) return view.title;
  const heads = look?.maps.find(map => map.kind === choice.kind && map.layer === choice.layer)?.heads ?? 1;
  const head = heads > 1 ? ` · ${say("head")} ${choice.head ?? say("mean")}` : "";
  return `${nameOf(view)} · ${say("layer")} ${choice.layer}${head}`;
}

function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function slug(text: string): string {
  const letters = text.normalize("NFC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `nungil-${letters.slice(0, 40) || "map"}`;
}
