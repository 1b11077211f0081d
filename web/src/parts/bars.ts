/* One row over a whole text, as a classifier has it: a bar for each word, to be read down. */

import { between, make, number } from "../dom";
import { shade, type Listener } from "../grid";
import { exact } from "../numbers";
import type { View } from "../record";
import { state } from "../state";

/** The same manners as a grid: a cursor that mouse and arrow keys move. */
export class Bars {
  readonly element: HTMLElement;
  row = 0;
  column = 0;
  private readonly lines: HTMLElement[];

  constructor(
    readonly view: View,
    label: string,
    private readonly listener: Listener,
  ) {
    const largest = view.cells.reduce((most, one) => Math.max(most, Math.abs(one)), 0) || 1;
    this.lines = view.columnNames.map((name, column) => this.line(name, column, largest));
    const attributes = { class: "bars", role: "grid", "aria-label": label, "aria-rowcount": view.columns, "aria-colcount": 1 };
    this.element = make("div", attributes, ...this.lines);
    this.element.addEventListener("mouseleave", () => this.listener.leave?.());
  }

  show(_row: number, column: number): void {
    this.column = between(0, column, this.view.columns - 1);
    this.light(this.column);
    this.lines.forEach((line, place) => line.querySelector("[role=gridcell]")?.setAttribute("tabindex", place === this.column ? "0" : "-1"));
  }

  focus(): void {
    this.lines[this.column]?.querySelector<HTMLElement>("[role=gridcell]")?.focus({ preventScroll: true });
  }

  hint(_row: number | null, column: number | null): void {
    this.light(column);
  }

  private light(column: number | null): void {
    this.element.querySelector(".lit")?.classList.remove("lit");
    if (column !== null) this.lines[column]?.classList.add("lit");
  }

  private line(name: string, column: number, largest: number): HTMLElement {
    const value = this.view.cells[column] ?? 0;
    const tick = make("span", { class: "tick" });
    shade(tick, value, this.view, state.night);
    tick.style.width = `${(100 * Math.abs(value)) / largest}%`;
    const cell = make("span", { role: "gridcell", class: "number", tabindex: column ? -1 : 0, "data-column": column }, number(value, exact(value)));
    const track = make("span", { class: "track", "aria-hidden": "true" }, tick);
    const line = make("div", { role: "row", class: "bar", "aria-rowindex": column + 1 }, make("span", { role: "rowheader", title: name }, name), cell, track);
    line.addEventListener("mousemove", () => this.to(column, false));
    line.addEventListener("click", () => {
      this.to(column, false);
      this.listener.open?.(0, column);
    });
    cell.addEventListener("focus", () => this.to(column, true));
    cell.addEventListener("keydown", event => this.press(event));
    return line;
  }

  private to(column: number, byKey: boolean): void {
    this.show(0, column);
    this.listener.point(0, this.column, byKey);
  }

  private press(event: KeyboardEvent): void {
    const last = this.view.columns - 1;
    const moves: Record<string, number> = { ArrowUp: this.column - 1, ArrowDown: this.column + 1, Home: 0, End: last };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      this.show(0, move);
      this.focus();
      this.lines[this.column]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.listener.open?.(0, this.column);
    }
  }
}
