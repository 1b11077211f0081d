// One file of everything: script and style are put into web/page.html, with the hashes that its policy names.
// What it was built of is written into it, so that a test can tell without Node whether it is up to date.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../nungil/inspection/page.html");
const hash = text => createHash("sha256").update(text, "utf8");

async function bundled(entry) {
  const options = { bundle: true, minify: true, write: false, target: ["es2022", "chrome111", "firefox113", "safari16.4"] };
  const { outputFiles } = await build({ entryPoints: [join(here, entry)], ...options, format: "iife", charset: "utf8", legalComments: "none" });
  return outputFiles[0].text.trim();
}

function sources() {
  const files = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true }).filter(file => file.isFile());
  const names = files.map(file => relative(here, join(file.parentPath ?? file.path, file.name)).replaceAll("\\", "/"));
  return [...names, "page.html"].sort();
}

const whole = hash("");
for (const name of sources()) whole.update(`${name}\0${readFileSync(join(here, name), "utf8")}\0`);
const [script, style] = [await bundled("src/main.ts"), await bundled("src/style.css")];
if (/<\/script|<\/style|<!--|@@/i.test(script + style)) throw new Error("script or style holds what would end it");
const parts = { SCRIPT: script, STYLE: style, BUILT: whole.digest("hex") };
parts.SCRIPT_HASH = hash(script).digest("base64");
parts.STYLE_HASH = hash(style).digest("base64");
const page = readFileSync(join(here, "page.html"), "utf8").replace(/@@(SCRIPT_HASH|STYLE_HASH|SCRIPT|STYLE|BUILT)@@/g, (_, name) => parts[name]);
writeFileSync(out, page);
