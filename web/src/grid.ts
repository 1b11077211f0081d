/* A map as a grid: cells on a canvas, words in HTML, a cursor that mouse and arrow keys move. */

import { colourOf, css, inkOn } from "./colours";
import { between, fill, make, number } from "./dom";
import { exact, short } from "./numbers";
import type { View } from "./record";

const LETTER = 12; // size of the letters beside a map
const LONGEST = 168; // pixels that a word may take; longer ones are cut
const NUMBERS = [36, 20] as const; // the smallest cell that has room for a number
const SLOPE = (58 * Math.PI) / 180;
const NARROW = 14; // pixels that a turned word needs

export interface Listener {
  point(row: number, column: number, byKey: boolean): void;
  leave?(): void;
  open?(row: number, column: number): void;
}
interface Sizes {
  width: number;
  height: number;
  left: number;
  top: number;
  turned: boolean;
  overhang: number;
}

let fonts: CanvasRenderingContext2D | null = null;
function widthOf(text: string): number {
  fonts ??= document.createElement("canvas").getContext("2d");
  if (fonts === null) return LETTER * text.length;
  fonts.font = `${LETTER}px ${getComputedStyle(document.body).fontFamily}`;
  return fonts.measureText(text).width;
}

/** As large as there is room for; many cells are small ones, and then not every word is named. */
export function sizesOf(view: View, room: number): Sizes {
  const widest = (names: string[]): number => Math.ceil(Math.min(LONGEST, names.reduce((most, name) => Math.max(most, widthOf(name)), 0)));
  const [rowWidth, columnWidth] = [widest(view.rowNames), widest(view.columnNames)];
  const left = Math.min(rowWidth, Math.max(70, Math.floor(room * 0.34))) + 14;
  const free = (room - left) / view.columns;
  let width = between(6, Math.floor(free), 84);
  let height = between(6, Math.floor(760 / view.rows), 42);
  if (width < NUMBERS[0] || height < NUMBERS[1]) {
    // Without numbers cells are square, or nearly: a map of many words is to be seen as a whole.
    width = height = Math.min(width, height, NUMBERS[0] - 1);
  }
  const turned = columnWidth > width - 6;
  if (turned) width = Math.max(6, Math.min(width, Math.floor((room - left - columnWidth * Math.cos(SLOPE) * 0.6) / view.columns)));
  if (width < NUMBERS[0]) height = Math.min(height, Math.max(width, 6));
  const top = turned ? Math.ceil(columnWidth * Math.sin(SLOPE)) + 18 : LETTER + 16;
  return { width, height, left, top, turned, overhang: turned ? Math.ceil(columnWidth * Math.cos(SLOPE)) + 4 : 0 };
}

/** A grid of one view; `element` is put on the page. */
export class Grid {
  readonly element: HTMLElement;
  readonly sizes: Sizes;
  row = 0;
  column = 0;
  private readonly cells: HTMLElement;
  private readonly cursor: HTMLElement;
  private readonly bands: [HTMLElement, HTMLElement];
  private readonly rowLabels: HTMLElement;
  private readonly columnLabels: HTMLElement;
  private count = 0;

  constructor(
    readonly view: View,
    label: string,
    room: number,
    private readonly listener: Listener,
  ) {
    this.sizes = sizesOf(view, room);
    const { width, height, left, top, overhang } = this.sizes;
    this.cursor = make("div", { class: "cursor", role: "presentation" });
    this.bands = [make("div", { class: "band" }), make("div", { class: "band" })];
    this.rowLabels = make("div", { class: "rows", "aria-hidden": "true" }, ...this.rowNames());
    this.columnLabels = make("div", { class: "columns", "aria-hidden": "true" }, ...this.columnNames());
    Object.assign(this.rowLabels.style, { width: `${left}px`, height: `${view.rows * height}px` });
    Object.assign(this.columnLabels.style, { width: `${view.columns * width + overhang}px`, height: `${top}px` });
    const corner = make("div", { class: "corner" });
    Object.assign(corner.style, { width: `${left}px`, height: `${top}px` });
    const grid = { class: "cells", role: "grid", tabindex: 0, "aria-label": label, "aria-rowcount": view.rows, "aria-colcount": view.columns };
    this.cells = make("div", { ...grid, "data-rows": view.rows, "data-columns": view.columns }, this.paint(), ...this.bands, this.cursor);
    Object.assign(this.cells.style, { width: `${view.columns * width}px`, height: `${view.rows * height}px` });
    this.element = make("div", { class: "grid" }, corner, this.columnLabels, this.rowLabels, this.cells);
    this.hear();
  }

  /** Move the cursor. */
  show(row: number, column: number): void {
    const { width, height } = this.sizes;
    [this.row, this.column] = [between(0, row, this.view.rows - 1), between(0, column, this.view.columns - 1)];
    const place = { left: `${this.column * width}px`, top: `${this.row * height}px`, width: `${width}px`, height: `${height}px` };
    const value = this.view.cells[this.row * this.view.columns + this.column] ?? 0;
    const id = `cell-${(this.count = 1 - this.count)}`; // another name each time, so that a screen reader reads it again
    const names = `${this.view.rowNames[this.row]}, ${this.view.columnNames[this.column]}: `;
    const cell = make("div", { id, role: "gridcell", "aria-colindex": this.column + 1 }, names, number(value, exact(value)));
    fill(this.cursor, make("div", { role: "row", "aria-rowindex": this.row + 1, class: "unseen" }, cell));
    this.cells.setAttribute("aria-activedescendant", id);
    Object.assign(this.cursor.style, place);
    Object.assign(this.bands[0].style, { top: place.top, height: place.height, left: "0", right: "0" });
    Object.assign(this.bands[1].style, { left: place.left, width: place.width, top: "0", bottom: "0" });
    this.cells.classList.add("pointed");
    this.light(this.rowLabels, this.row);
    this.light(this.columnLabels, this.column);
  }

  focus(): void {
    this.cells.focus({ preventScroll: true });
  }

  /** Only a row, or only a column, as when a word is pointed at elsewhere. */
  hint(row: number | null, column: number | null): void {
    this.cells.classList.remove("pointed");
    const { width, height } = this.sizes;
    if (row !== null) Object.assign(this.bands[0].style, { top: `${row * height}px`, height: `${height}px`, left: "0", right: "0" });
    if (column !== null) Object.assign(this.bands[1].style, { left: `${column * width}px`, width: `${width}px`, top: "0", bottom: "0" });
    this.cells.classList.toggle("row-hint", row !== null);
    this.cells.classList.toggle("column-hint", column !== null);
    this.light(this.rowLabels, row);
    this.light(this.columnLabels, column);
  }

  private light(labels: HTMLElement, place: number | null): void {
    labels.querySelector(".lit")?.classList.remove("lit");
    if (place !== null) labels.querySelector(`[data-place="${place}"]`)?.classList.add("lit");
  }

  private rowNames(): HTMLElement[] {
    const { height } = this.sizes;
    const every = Math.ceil(NARROW / height);
    return this.view.rowNames.flatMap((name, row) => {
      if (row % every) return [];
      const label = make("span", { "data-place": row, title: name }, name);
      Object.assign(label.style, { top: `${(row + 0.5) * height}px` });
      return [label];
    });
  }

  private columnNames(): HTMLElement[] {
    const { width, turned } = this.sizes;
    const every = turned ? Math.ceil(NARROW / width) : 1;
    return this.view.columnNames.flatMap((name, column) => {
      if (column % every) return [];
      const label = make("span", { "data-place": column, title: name, class: turned ? "turned" : "" }, name);
      Object.assign(label.style, { left: `${(column + 0.5) * width}px` });
      return [label];
    });
  }

  /** A small image with a pixel for each cell, drawn large; numbers on it where there is room. */
  private paint(): HTMLCanvasElement {
    const { view, sizes } = this;
    const [across, down] = [view.columns * sizes.width, view.rows * sizes.height];
    const sharp = Math.min(window.devicePixelRatio || 1, 8192 / Math.max(across, down, 1));
    const canvas = make("canvas", { "aria-hidden": "true" });
    Object.assign(canvas, { width: Math.ceil(across * sharp), height: Math.ceil(down * sharp) });
    Object.assign(canvas.style, { width: `${across}px`, height: `${down}px` });
    const pen = canvas.getContext("2d");
    if (pen === null) return canvas;
    pen.scale(sharp, sharp);
    paintCells(pen, view, sizes.width, sizes.height, document.documentElement.dataset["theme"] === "dark");
    return canvas;
  }

  private placeOf(event: MouseEvent): [number, number] {
    const box = this.cells.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / this.sizes.height);
    const column = Math.floor((event.clientX - box.left) / this.sizes.width);
    return [between(0, row, this.view.rows - 1), between(0, column, this.view.columns - 1)];
  }

  private hear(): void {
    this.cells.addEventListener("mousemove", event => {
      const [row, column] = this.placeOf(event);
      if (row === this.row && column === this.column && this.cells.classList.contains("pointed")) return;
      this.show(row, column);
      this.listener.point(row, column, false);
    });
    this.cells.addEventListener("mouseleave", () => this.listener.leave?.());
    this.cells.addEventListener("click", event => {
      const [row, column] = this.placeOf(event);
      this.show(row, column);
      this.listener.point(row, column, false);
      this.listener.open?.(row, column);
    });
    this.cells.addEventListener("focus", () => {
      this.show(this.row, this.column);
      this.listener.point(this.row, this.column, true);
    });
    this.cells.addEventListener("keydown", event => this.press(event));
  }

  private press(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.view.rows / 4));
    const moves: Record<string, [number, number]> = {
      ArrowUp: [this.row - 1, this.column],
      ArrowDown: [this.row + 1, this.column],
      ArrowLeft: [this.row, this.column - 1],
      ArrowRight: [this.row, this.column + 1],
      Home: [event.ctrlKey ? 0 : this.row, 0],
      End: [event.ctrlKey ? this.view.rows - 1 : this.row, this.view.columns - 1],
      PageUp: [this.row - page, this.column],
      PageDown: [this.row + page, this.column],
    };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      this.show(...move);
      this.listener.point(this.row, this.column, true);
      this.cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if ((event.key === "Enter" || event.key === " ") && this.listener.open) {
      event.preventDefault();
      this.listener.open(this.row, this.column);
    }
  }
}

/** The cells of a view, and the numbers in them where there is room. */
export function paintCells(pen: CanvasRenderingContext2D, view: View, width: number, height: number, night: boolean): void {
  const image = new ImageData(view.columns, view.rows);
  const scale = scaleOf(view, night);
  const low = view.signed ? -view.high : 0;
  view.cells.forEach((value, place) => {
    const step = between(0, Math.round(((value - low) / (view.high - low)) * STEPS), STEPS);
    image.data.set(scale.subarray(4 * step, 4 * step + 4), 4 * place);
  });
  const small = make("canvas");
  Object.assign(small, { width: view.columns, height: view.rows });
  small.getContext("2d")?.putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, 0, 0, view.columns * width, view.rows * height);
  if (width < NUMBERS[0] || height < NUMBERS[1]) return;
  Object.assign(pen, { textAlign: "center", textBaseline: "middle", font: `11px ${getComputedStyle(document.body).fontFamily}` });
  view.cells.forEach((value, place) => {
    pen.fillStyle = inkOn(colourOf(value, view.high, view.signed, night));
    pen.fillText(short(value), ((place % view.columns) + 0.5) * width, (Math.floor(place / view.columns) + 0.5) * height);
  });
}

const STEPS = 2048; // of a scale: more than a screen can tell apart

function scaleOf(view: View, night: boolean): Uint8ClampedArray {
  const scale = new Uint8ClampedArray(4 * (STEPS + 1));
  const low = view.signed ? -view.high : 0;
  for (let step = 0; step <= STEPS; step++) {
    scale.set([...colourOf(low + ((view.high - low) * step) / STEPS, view.high, view.signed, night), 255], 4 * step);
  }
  return scale;
}

/** A swatch in the colour of a number. */
export function shade(element: HTMLElement, value: number, view: { high: number; signed: boolean }, night: boolean): void {
  const colour = colourOf(value, view.high, view.signed, night);
  Object.assign(element.style, { background: css(colour), color: inkOn(colour) });
}
