/* What a server refuses: why, told in the language of the page, and whether asking again can help. */

import { isKey, say, type Key } from "./say";

export type Facts = Record<string, string | number>;
const PASSING = [0, 408, 429, 502, 503, 504]; // statuses of what may be over in a moment; 0: nobody answered

/** A refusal by its status and its code; the server's own sentence is for codes that the page does not know. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message = "",
    readonly facts: Facts = {},
  ) {
    super(message);
  }

  /** Whether the same request may be answered another time. */
  get passes(): boolean {
    return PASSING.includes(this.status) || this.code === "lost";
  }

  /** Why, in a sentence to show. */
  get told(): string {
    const facts = Object.fromEntries(Object.entries(this.facts).map(([name, fact]) => [name, typeof fact === "number" ? fact.toLocaleString("en") : fact]));
    return say(this.key, { ...facts, message: this.message || this.status });
  }

  private get key(): Key {
    const key = this.code === "too_much" ? `refused ${String(this.facts["unit"])}` : `refused ${this.code}`;
    return isKey(key) ? key : "refused";
  }
}

/** What went wrong with a request; null when it was only given up for something newer. */
export function refusalOf(error: unknown): Refused | null {
  if (error instanceof DOMException && error.name === "AbortError") return null;
  if (error instanceof Refused) return error;
  throw error;
}

/** The same as a sentence; empty when there is nothing to say. */
export function problemOf(error: unknown): string {
  return refusalOf(error)?.told ?? "";
}
