/* A record as files: what nungil reads again, and a page like this one. */

import type { Inside, Keeper, Strip } from "./keeper";
import { pack } from "./numbers";
import { SIDES, type Look, type Matrix, type View } from "./record";

interface Headed {
  kind: Look["maps"][number]["kind"];
  layer: number;
  heads: Matrix[];
}

/** Every head of every map. A server sends one at a time. */
async function all(keeper: Keeper, look: Look): Promise<Headed[]> {
  const found: Headed[] = [];
  for (const { kind, layer, heads } of look.maps) {
    const matrices: Matrix[] = [];
    for (let head = 0; head < heads; head++) matrices.push(await keeper.weights({ kind, layer, head: heads > 1 ? head : null }));
    found.push({ kind, layer, heads: matrices });
  }
  return found;
}

function plainOf(look: Look): Record<string, unknown> {
  const { reading, merge, readers, source, target, score, tokens, steps, beam } = look;
  return { reading, merge, readers, source, target, score, source_tokens: tokens.source, target_tokens: tokens.target, input_tokens: tokens.input, steps, beam };
}

/** What `AttentionRecord.load` reads. */
export async function toJson(keeper: Keeper, look: Look): Promise<string> {
  const maps = (await all(keeper, look)).map(({ kind, layer, heads }) => ({ kind, layer, weights: heads.map(rowsOf) }));
  return `${JSON.stringify({ ...plainOf(look), maps })}\n`;
}

function rowsOf({ rows, columns, cells }: Matrix): number[][] {
  return Array.from({ length: rows }, (_, row) => Array.from(cells.subarray(row * columns, (row + 1) * columns)));
}

/** A line for each weight of each head of each map, all counted from 0. */
export async function toCsv(keeper: Keeper, look: Look): Promise<string> {
  const lines = ["kind,layer,head,row,column,row_token,column_token,weight"];
  for (const { kind, layer, heads } of await all(keeper, look)) {
    const [rows, columns] = SIDES[kind].map(side => look.tokens[side].map(quoted)) as [string[], string[]];
    heads.forEach((matrix, head) => matrix.cells.forEach((weight, place) => {
      const [row, column] = [Math.floor(place / matrix.columns), place % matrix.columns];
      lines.push(`${kind},${layer},${head},${row},${column},${rows[row]},${columns[column]},${weight}`);
    }));
  }
  return `${lines.join("\n")}\n`;
}

/** Of a picture that is no record: a line for each cell. */
export function viewToCsv(view: View): string {
  const lines = ["row,column,row_token,column_token,value"];
  view.cells.forEach((value, place) => {
    const [row, column] = [Math.floor(place / view.columns), place % view.columns];
    lines.push(`${row},${column},${quoted(view.rowNames[row] ?? "")},${quoted(view.columnNames[column] ?? "")},${value}`);
  });
  return `${lines.join("\n")}\n`;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** This very page with the record inside, as `nungil look --html` writes it. */
export async function toPage(keeper: Keeper, look: Look, strip: Strip | null): Promise<string> {
  const maps = (await all(keeper, look)).map(({ kind, layer, heads }) => ({ kind, layer, heads: heads.map(({ cells }) => pack(cells)) }));
  const record = { ...plainOf(look), maps } as unknown as NonNullable<Inside["record"]>;
  const inside: Inside = { record, ...(strip ? { strip } : {}), ...(look.labels.length ? { labels: look.labels } : {}) };
  return pageOf(inside, `${look.source} · nungil`);
}

/** Script, style and policy are those of this page; only the policy's leave to ask a server is taken away. */
export function pageOf(inside: Inside, title: string): string {
  const page = document.implementation.createHTMLDocument(title);
  page.documentElement.lang = "en";
  const metas = [...document.head.querySelectorAll("meta, link[rel=icon]")].map(meta => page.importNode(meta, true));
  page.head.prepend(...metas);
  const policy = page.head.querySelector("meta[http-equiv]");
  policy?.setAttribute("content", (policy.getAttribute("content") ?? "").replace("; connect-src 'self'", ""));
  const style = page.createElement("style");
  style.textContent = document.querySelector("style")?.textContent ?? "";
  page.head.append(style);
  const data = page.createElement("script");
  Object.assign(data, { type: "application/json", id: "data", textContent: embedded(inside) });
  const script = page.createElement("script");
  script.textContent = document.querySelector("script:not([type])")?.textContent ?? "";
  page.body.append(data, script);
  return `<!doctype html>\n${page.documentElement.outerHTML}\n`;
}

/** JSON that can stand inside a script: nothing in it can end the script or begin a tag. */
function embedded(inside: Inside): string {
  return JSON.stringify(inside).replace(/[<>&\u2028\u2029]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
