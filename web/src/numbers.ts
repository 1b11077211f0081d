/* Numbers as they are shown. */

/** Four decimals; a small one with its exponent, so that nothing above 0 looks like 0. */
export function exact(value: number): string {
  if (value === 0) return "0";
  return minus(Math.abs(value) < 0.00005 ? value.toExponential(1) : value.toFixed(4));
}

/** What fits into a cell. */
export function short(value: number): string {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (value === 0) return "";
  if (size < 0.005) return "·";
  return sign + (size < 0.995 ? size.toFixed(2).slice(1) : String(Number(size.toPrecision(2))));
}

/** So many decimals, with a real minus. */
export function fixed(value: number | null | undefined, decimals = 2): string {
  return value === null || value === undefined ? "–" : minus((value + 0).toFixed(decimals));
}

/** The same with its sign, plus too. */
export function signed(value: number | null | undefined, decimals = 2): string {
  if (value === null || value === undefined) return "–";
  const text = fixed(value, decimals);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

export function percent(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : `${Math.round(100 * value)}%`;
}

function minus(text: string): string {
  return text.replace("-", "−");
}

/** As few decimals as all of them need, four at most; very large and very small ones with an exponent. */
export function together(values: readonly number[]): string[] {
  const decimals = [0, 1, 2, 3].find(count => values.every(one => Math.abs(one - Number(one.toFixed(count))) < 1e-9)) ?? 4;
  return values.map(one => {
    if (one !== 0 && (Math.abs(one) >= 1e6 || Math.abs(one) < 10 ** -decimals / 2)) return minus(one.toExponential(2));
    return minus((one + 0).toFixed(decimals));
  });
}

/** The end of a colour scale: 1 where the largest is near it, else the next round number. */
export function highOf(cells: ArrayLike<number>, isSigned: boolean): number {
  let largest = 0;
  for (let place = 0; place < cells.length; place++) largest = Math.max(largest, Math.abs(cells[place] ?? 0));
  if (largest === 0 || (!isSigned && largest >= 0.5 && largest <= 1.001)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return ([1, 2, 5, 10].find(step => largest <= step * power * (1 + 1e-9)) ?? 10) * power;
}

/** Entropy / ln n of a row, n the columns it gave any weight; null where there was nothing to choose from. */
export function spreadOf(row: ArrayLike<number>): number | null {
  const given = Array.from(row).filter(one => one > 0);
  if (given.length < 2) return null;
  const sum = given.reduce((total, one) => total + one, 0);
  return -given.reduce((total, one) => total + (one / sum) * Math.log(one / sum), 0) / Math.log(given.length);
}

/** Single precision, row by row, little end first, in base64. */
export function unpack(packed: string): Float32Array {
  return new Float32Array(Uint8Array.from(atob(packed), letter => letter.charCodeAt(0)).buffer);
}

export function pack(cells: Float32Array): string {
  const bytes = new Uint8Array(cells.buffer, cells.byteOffset, cells.byteLength);
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000) text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(text);
}
