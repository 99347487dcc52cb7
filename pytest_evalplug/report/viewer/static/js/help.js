// The keys, and what they do.

import { h } from "./dom.js";

const KEYS = [
  ["j  ↓", "next sample"],
  ["k  ↑", "sample before"],
  ["Enter", "open the sample"],
  ["/", "search"],
  ["u  Esc", "up: from a sample to the list, to the run"],
  ["?", "this help"],
];

let dialog = null;

export function toggleHelp() {
  dialog ??= makeDialog();
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function makeDialog() {
  const element = h(
    "dialog.help",
    { "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keys"),
    h(
      "dl",
      {},
      KEYS.map(([keys, what]) => [
        h(
          "dt",
          {},
          keys.split("  ").map((key) => h("kbd", {}, key)),
        ),
        h("dd", {}, what),
      ]),
    ),
    h("p.note", {}, "Every view has an address of its own: copy it, or go back as in any page."),
    h("form", { method: "dialog" }, h("button", { type: "submit" }, "Close")),
  );
  document.body.append(element);
  return element;
}
