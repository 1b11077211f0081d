/* How far the map can be trusted: three figures and a verdict; the rest on request. */

import { fill, make, number } from "../dom";
import type { Figures, Strip } from "../keeper";
import { fixed, percent, signed } from "../numbers";
import { refusalOf, type Refused } from "../refusals";
import { say, type Key } from "../say";
import { listen, state } from "../state";
import { visible } from "../tokens";
import { button, coded, fillSection, section, type Part } from "./part";

type Standing = "measuring" | "measured" | "costly" | "none" | "failed";

export class TrustPart implements Part {
  readonly element = section("trust");
  strip: Strip | null = null;
  private standing: Standing = "none";
  private problem: Refused | null = null;
  private turn = 0;

  constructor(private readonly inside: Strip | null) {
    listen(["choice", "look"], () => this.measure(false));
    listen(["language"], () => this.draw());
    this.measure(false);
  }

  private measure(full: boolean): void {
    const { choice, keeper, look } = state;
    const mine = ++this.turn;
    if (!full) this.strip = null;
    const across = choice?.kind === "cross" || choice?.kind === "pooling";
    if (choice === null || look === null || !across || !keeper?.model) {
      const own = look !== null && across && !keeper?.model && this.isOfThis() ? this.inside : null;
      [this.strip, this.standing] = [own, own ? "measured" : "none"];
      return this.draw();
    }
    this.standing = "measuring";
    this.draw();
    keeper.model.honesty(choice, full).then(
      strip => this.settle(mine, strip, strip === null ? "costly" : "measured"),
      (error: unknown) => {
        if (mine === this.turn) this.problem = refusalOf(error);
        this.settle(mine, null, "failed");
      },
    );
  }

  /** Whether what is inside the file is of the map on show. */
  private isOfThis(): boolean {
    const { choice } = state;
    const at = this.inside?.at;
    return at === undefined || (at.layer === choice?.layer && at.head === choice.head);
  }

  private settle(mine: number, strip: Strip | null, standing: Standing): void {
    if (mine !== this.turn) return;
    [this.strip, this.standing] = [strip, standing];
    this.draw();
  }

  private draw(): void {
    const { look, keeper } = state;
    const shown = look !== null && look.maps.length > 0 && (keeper?.model != null || this.inside !== null);
    this.element.hidden = !shown;
    if (!shown) return;
    const { strip, standing } = this;
    const body = make("div", { class: "trust-body", "aria-busy": String(standing === "measuring") });
    if (strip !== null) fill(body, verdictOf(strip), figuresOf(strip), strip.permutations > 0 && restOf(strip));
    else if (standing === "measuring") fill(body, make("p", { class: "quiet" }, say("trustRunning")));
    else if (standing === "costly") fill(body, make("p", { class: "quiet" }, say("trustCostly")));
    else if (standing === "failed") fill(body, make("p", { class: "problem" }, this.problem?.told));
    else fill(body, make("p", { class: "quiet" }, ...coded(say(keeper?.model ? "trustNone" : "trustElsewhere"))));
    const more = keeper?.model && standing !== "none" && !(strip && strip.permutations > 0);
    if (more) body.append(button(standing === "costly" ? say("trustMeasure") : say("trustFull"), () => this.measure(true), { class: "chip", id: "trust-full", disabled: standing === "measuring" && strip === null }));
    fillSection(this.element, "trustTitle", "trustTold", body);
  }
}

function verdictOf(strip: Strip): HTMLElement {
  const key: Key = strip.needed ? (strip.points ? "verdictYesYes" : "verdictYesNo") : strip.points ? "verdictNoYes" : "verdictNoNo";
  const others = strip.layers > 1 && !strip.needed ? ` ${say("verdictOthers")}` : "";
  return make("p", { class: "verdict", "data-needed": String(strip.needed), "data-points": String(strip.points) }, make("b", {}, say("verdict")), " ", say(key, { output: say(labelled() ? "theLabel" : "theOutput") }), others);
}

/** Whether the map is a classifier's, which writes no words. */
function labelled(): boolean {
  return state.choice?.kind === "pooling";
}

function figuresOf(strip: Strip): HTMLElement {
  const flips = labelled() ? say(strip.flips ? "evenFlip" : "evenStays") : say("evenFlips", { flips: strip.flips, steps: strip.steps });
  const means = strip.means;
  return make(
    "dl",
    { class: "figures" },
    ...figure("even", means["delta_p"], value => signed(value), "Δp", flips),
    ...figure("erased", means["drop_top"], value => signed(value === 0 ? 0 : -value), "Δ log p", say("erasedOther", { drop: signed(-(means["drop_random"] ?? 0)) })),
    ...figure("order", strip.agreement, value => fixed(value), "τ", say("orderCeiling", { tau: fixed(means["tau_ceiling"]) })),
  );
}

function figure(name: "even" | "erased" | "order", value: number | null | undefined, shown: (value: number) => string, unit: string, beside: string): HTMLElement[] {
  const large = value === null || value === undefined ? make("span", {}, "–") : number(value, shown(value));
  const told: Key = name === "even" ? (labelled() ? "evenLabel" : "evenTold") : name === "erased" ? "erasedTold" : "orderTold";
  return [make("div", { class: "figure", "data-figure": name }, make("dt", {}, say(name), make("span", { class: "unit" }, unit)), make("dd", { class: "large" }, large), make("dd", { class: "beside" }, beside), make("dd", { class: "told" }, say(told)))];
}

function restOf(strip: Strip): HTMLElement {
  const mean = (name: keyof Figures): number | null => strip.means[name] ?? null;
  const lines: [Key, number | null, string][] = [
    ["figSpread", mean("entropy"), percent(mean("entropy"))],
    ["figIdle", mean("idle"), percent(mean("idle"))],
    ["figGradient", mean("tau_gradient"), fixed(mean("tau_gradient"))],
    ["figErasing", mean("tau_erasing"), fixed(mean("tau_erasing"))],
    ["figNorm", mean("tau_norm"), fixed(mean("tau_norm"))],
    ["figKl", mean("kl"), fixed(mean("kl"), 3)],
    ["figPercentile", mean("percentile"), `${fixed(mean("percentile"), 0)}%`],
    ["figOwn", mean("own_percentile"), `${fixed(mean("own_percentile"), 0)}%`],
    ["figResidual", strip.residual, strip.residual === null ? "–" : strip.residual.toExponential(1)],
  ];
  const cells = lines.map(([key, value, text]) => make("tr", {}, make("th", { scope: "row" }, say(key)), make("td", {}, value === null ? text : number(value, text))));
  const rows = strip.rows.map(row =>
    make("tr", {}, make("th", { scope: "row" }, visible(row.token)), make("td", { class: "text" }, visible(row.top)), ...[row.delta_p, -row.drop_top, -row.drop_random].map(value => make("td", {}, number(value, signed(value))))),
  );
  const heads = (["colWord", "colTop", "colDelta", "colTop2", "colOther"] as const).map(key => make("th", { scope: "col" }, say(key)));
  return make(
    "div",
    { class: "rest" },
    make("table", { class: "numbers wide" }, make("tbody", {}, ...cells)),
    make("details", {}, make("summary", {}, say("rowByRow")), make("div", { class: "sideways" }, make("table", { class: "numbers" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)))),
  );
}
