/* The page: which parts there are, and who has the weights. A new part is a file in parts/ and a line here. */

import { fill, make } from "./dom";
import { FileKeeper, type Inside } from "./keeper";
import { show } from "./looking";
import { ComposePart } from "./parts/compose";
import { EditPart } from "./parts/edit";
import { ErasePart } from "./parts/erase";
import { GazePart } from "./parts/gaze";
import { Header } from "./parts/header";
import { HeadingPart } from "./parts/heading";
import { LedgerPart } from "./parts/ledger";
import { MapPart } from "./parts/map";
import { MovePart } from "./parts/move";
import { SearchPart } from "./parts/search";
import { TakePart } from "./parts/take";
import { TrustPart } from "./parts/trust";
import { say } from "./say";
import { listen } from "./state";

function start(): void {
  const inside = JSON.parse(document.getElementById("data")?.textContent || "{}") as Inside;
  const file = inside.record !== undefined || inside.pictures !== undefined;
  const header = new Header(); // first: it knows language and colours
  const main = make("main", { class: file ? "file" : "served" });
  const foot = make("footer", {});
  document.body.prepend(header.element, main, foot);
  const trust = new TrustPart(inside.strip ?? null);
  const first = file ? new HeadingPart(inside) : new ComposePart();
  const map = make("div", { class: "split" }, new MapPart().element, trust.element);
  const change = make("div", { class: "halves" }, new EditPart().element, new MovePart().element);
  const take = new TakePart(inside, () => trust.strip);
  fill(main, first.element, new GazePart().element, new ErasePart().element, map, new LedgerPart().element, new SearchPart().element, change, take.element);
  const tell = (): void => fill(foot, say("footer"));
  listen(["language"], tell);
  tell();
  if (inside.record) {
    const keeper = new FileKeeper(inside.record, inside);
    void show(keeper, keeper.look);
  }
}

start();
