/* Colours of a number: light to dark (at night dark to light), so that grey tells the order; blue and red around 0. */

export type Colour = [number, number, number];

/* By day the same as in nungil/inspection/colours.py. On a dark page they go the other way: nothing is as dark as the page. */
const RAMPS: Record<string, Colour[]> = {
  weights: [[248, 250, 252], [208, 224, 243], [145, 184, 226], [81, 137, 198], [37, 90, 158], [12, 44, 94]],
  signed: [[138, 30, 34], [205, 92, 72], [240, 178, 150], [250, 250, 250], [158, 197, 232], [66, 126, 190], [12, 54, 110]],
  "weights at night": [[30, 38, 48], [33, 64, 98], [40, 98, 150], [70, 140, 196], [130, 190, 228], [214, 240, 252]],
  "signed at night": [[255, 190, 170], [222, 110, 90], [120, 58, 54], [30, 38, 48], [38, 84, 130], [84, 150, 208], [190, 226, 250]],
};
const INK = "#17212b";

export function isNight(): boolean {
  return document.documentElement.dataset["theme"] === "dark";
}

export function colourOf(value: number, high: number, signed: boolean, night: boolean): Colour {
  const ramp = RAMPS[(signed ? "signed" : "weights") + (night ? " at night" : "")] ?? [];
  const part = signed ? (value / high + 1) / 2 : value / high;
  const place = Math.min(Math.max(part, 0), 1) * (ramp.length - 1);
  const below = Math.min(Math.floor(place), ramp.length - 2);
  const [from, to] = [ramp[below], ramp[below + 1]] as [Colour, Colour];
  return from.map((colour, channel) => Math.round(colour + (place - below) * ((to[channel] ?? 0) - colour))) as Colour;
}

/** Letters that can be read on it. */
export function inkOn([red, green, blue]: Colour): string {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 115 ? "#fff" : INK;
}

export function css(colour: Colour): string {
  return `rgb(${colour.join(" ")})`;
}

/** The colours of a scale from left to right, for CSS. */
export function gradient(high: number, signed: boolean, night: boolean): string {
  const low = signed ? -high : 0;
  const stops = Array.from({ length: 13 }, (_, place) => css(colourOf(low + ((high - low) * place) / 12, high, signed, night)));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
