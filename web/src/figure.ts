/* A view as a figure, for papers and slides: the same shapes as SVG and as PNG, in the colours of the day. */

import { colourOf, css, inkOn } from "./colours";
import { draw } from "./dom";
import { paintCells } from "./grid";
import { short } from "./numbers";
import type { View } from "./record";

const LETTER = 13;
const SLOPE = 55;
const MARGIN = 16;
const MANY = 20_000; // cells; more of them are one image inside the SVG
const SHARP = 2; // pixels of a PNG for each unit
const FAMILY = 'system-ui, "Segoe UI", "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", "Noto Sans CJK KR", "NanumGothic", sans-serif';
const INK = "#17212b";
const SOFT = "#5d6b78";

interface Label {
  text: string;
  x: number;
  y: number;
  anchor: "start" | "middle" | "end";
  turn: number;
  size: number;
  ink: string;
}
interface Figure {
  width: number;
  height: number;
  left: number;
  top: number;
  cell: [number, number];
  labels: Label[];
  scale: { x: number; y: number; width: number; height: number };
}

function measure(text: string, size = LETTER): number {
  const pen = document.createElement("canvas").getContext("2d");
  if (pen === null) return size * text.length;
  pen.font = `${size}px ${FAMILY}`;
  return pen.measureText(text).width;
}

function figureOf(view: View, title: string, notes: readonly string[]): Figure {
  const small = Math.max(view.rows, view.columns) > 60;
  const cell: [number, number] = small ? [8, 8] : [46, 30];
  const widest = (names: string[]): number => Math.min(200, names.reduce((most, name) => Math.max(most, measure(name)), 0));
  const turned = widest(view.columnNames) > cell[0] - 6;
  const sine = Math.sin((SLOPE * Math.PI) / 180);
  const left = MARGIN + widest(view.rowNames) + 8;
  const top = MARGIN + 24 + (turned ? widest(view.columnNames) * sine + 12 : 22);
  const right = turned ? widest(view.columnNames) * Math.cos((SLOPE * Math.PI) / 180) : 0;
  const [across, down] = [view.columns * cell[0], view.rows * cell[1]];
  const labels: Label[] = [label(title, MARGIN, MARGIN + LETTER, "start", 0, 14, INK)];
  const every = (size: number): number => Math.ceil(15 / size);
  view.rowNames.forEach((name, row) => row % every(cell[1]) || labels.push(label(name, left - 8, top + (row + 0.5) * cell[1] + 4.5, "end")));
  view.columnNames.forEach((name, column) => column % every(cell[0]) || labels.push(label(name, left + (column + 0.5) * cell[0], top - 8, turned ? "start" : "middle", turned ? -SLOPE : 0)));
  const scale = { x: left + 34, y: top + down + 18, width: 140, height: 10 };
  labels.push(label(String(view.signed ? -view.high : 0), scale.x - 6, scale.y + 9.5, "end", 0, 11, SOFT), label(String(view.high), scale.x + scale.width + 6, scale.y + 9.5, "start", 0, 11, SOFT));
  notes.forEach((note, place) => labels.push(label(note, MARGIN, scale.y + 34 + 17 * place, "start", 0, 11, SOFT)));
  const width = Math.max(left + across + right, ...notes.map(note => MARGIN + measure(note, 11)), MARGIN + measure(title, 14), scale.x + 190) + MARGIN;
  return { width: Math.ceil(width), height: Math.ceil(scale.y + 26 + 17 * notes.length + MARGIN), left, top, cell, labels, scale };
}

function label(text: string, x: number, y: number, anchor: Label["anchor"], turn = 0, size = LETTER, ink = INK): Label {
  return { text, x, y, anchor, turn, size, ink };
}

/** Every cell has its exact number, `data-value`. */
export function toSvg(view: View, title: string, notes: readonly string[]): string {
  const figure = figureOf(view, title, notes);
  const { left, top, cell, scale } = figure;
  const svg = draw("svg", { width: figure.width, height: figure.height, viewBox: `0 0 ${figure.width} ${figure.height}`, "font-family": FAMILY }, draw("title", {}, title));
  svg.append(draw("rect", { width: figure.width, height: figure.height, fill: "#fff" }));
  if (view.cells.length > MANY) svg.append(imageOf(view, figure));
  else view.cells.forEach((value, place) => svg.append(...cellOf(view, value, left + (place % view.columns) * cell[0], top + Math.floor(place / view.columns) * cell[1], cell)));
  for (let stop = 0; stop < scale.width; stop += 2) {
    const value = (view.signed ? -view.high : 0) + ((view.signed ? 2 : 1) * view.high * stop) / scale.width;
    svg.append(draw("rect", { x: scale.x + stop, y: scale.y, width: 2, height: scale.height, fill: hex(colourOf(value, view.high, view.signed, false)) }));
  }
  for (const one of figure.labels) {
    const turn = one.turn ? { transform: `rotate(${one.turn} ${one.x} ${one.y})` } : {};
    svg.append(draw("text", { x: one.x, y: one.y, "text-anchor": one.anchor, "font-size": one.size, fill: one.ink, ...turn }, one.text));
  }
  return new XMLSerializer().serializeToString(svg);
}

function cellOf(view: View, value: number, x: number, y: number, [width, height]: [number, number]): SVGElement[] {
  const colour = colourOf(value, view.high, view.signed, false);
  const rect = draw("rect", { x, y, width, height, fill: hex(colour), "data-value": value });
  const text = short(value);
  if (width < 30 || !text) return [rect];
  return [rect, draw("text", { x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle", "font-size": 11, fill: inkOn(colour) }, text)];
}

function imageOf(view: View, { left, top, cell }: Figure): SVGElement {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: view.columns, height: view.rows });
  const pen = canvas.getContext("2d");
  if (pen) paintCells(pen, view, 1, 1, false);
  return draw("image", { x: left, y: top, width: view.columns * cell[0], height: view.rows * cell[1], preserveAspectRatio: "none", "image-rendering": "pixelated", href: canvas.toDataURL() });
}

export function toPng(view: View, title: string, notes: readonly string[]): Promise<Blob | null> {
  const figure = figureOf(view, title, notes);
  const { left, top, cell, scale } = figure;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: figure.width * SHARP, height: figure.height * SHARP });
  const pen = canvas.getContext("2d");
  if (pen === null) return Promise.resolve(null);
  pen.scale(SHARP, SHARP);
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, figure.width, figure.height);
  pen.save();
  pen.translate(left, top);
  paintCells(pen, view, cell[0], cell[1], false);
  pen.restore();
  for (let stop = 0; stop < scale.width; stop++) {
    const value = (view.signed ? -view.high : 0) + ((view.signed ? 2 : 1) * view.high * stop) / scale.width;
    pen.fillStyle = css(colourOf(value, view.high, view.signed, false));
    pen.fillRect(scale.x + stop, scale.y, 1.5, scale.height);
  }
  for (const one of figure.labels) write(pen, one);
  return new Promise(resolve => canvas.toBlob(resolve));
}

function write(pen: CanvasRenderingContext2D, one: Label): void {
  pen.save();
  pen.translate(one.x, one.y);
  pen.rotate((one.turn * Math.PI) / 180);
  const align = { start: "left", middle: "center", end: "right" } as const;
  Object.assign(pen, { font: `${one.size}px ${FAMILY}`, fillStyle: one.ink, textAlign: align[one.anchor], textBaseline: "alphabetic" });
  pen.fillText(one.text, 0, 0);
  pen.restore();
}

function hex(colour: readonly number[]): string {
  return `#${colour.map(part => part.toString(16).padStart(2, "0")).join("")}`;
}
