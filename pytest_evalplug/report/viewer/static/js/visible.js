// Characters that hide, reorder or command are shown by name.

import { h } from "./dom.js";

const SPECIAL =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\r(?!\n)|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const NAMES = {
  0x00: "NUL",
  0x07: "BEL",
  0x08: "BS",
  0x0d: "CR",
  0x1b: "ESC",
  0x7f: "DEL",
  0xad: "SHY",
  0x85: "NEL",
  0x61c: "ALM",
  0x200b: "ZWSP",
  0x200e: "LRM",
  0x200f: "RLM",
  0x2028: "LSEP",
  0x2029: "PSEP",
  0x202a: "LRE",
  0x202b: "RLE",
  0x202c: "PDF",
  0x202d: "LRO",
  0x202e: "RLO",
  0x2060: "WJ",
  0x2066: "LRI",
  0x2067: "RLI",
  0x2068: "FSI",
  0x2069: "PDI",
  0xfeff: "BOM",
};
const MOST = 2000;

/** Return a text as strings and marks, to be appended to an element. */
export function visible(text) {
  const parts = [];
  let start = 0;
  for (const { 0: char, index } of text.matchAll(SPECIAL)) {
    if (parts.length > MOST) break;
    if (index > start) parts.push(text.slice(start, index));
    const code = char.charCodeAt(0);
    const number = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    parts.push(h("span.control", { title: number }, NAMES[code] ?? number));
    start = index + 1;
  }
  if (start < text.length)
    parts.push(
      parts.length > MOST ? text.slice(start).replace(SPECIAL, "\ufffd") : text.slice(start),
    );
  return parts;
}

/** Return a value of any kind as text. */
export function asText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}
