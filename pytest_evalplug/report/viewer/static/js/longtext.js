// A text as it is, the answer in it marked; of a very long one only some is shown at first.

import { h } from "./dom.js";
import { count } from "./format.js";
import { visible } from "./visible.js";

const WHOLE = 60000;
const [HEAD, AROUND, TAIL] = [20000, 4000, 20000];

/** Make the element of a text; `mark` is [start, end] of what is to be marked, or null. */
export function longText(text, mark = null) {
  const element = h(text.length > WHOLE ? "div.text.is-long" : "div.text", { dir: "auto" });
  const show = (ranges) => {
    element.replaceChildren();
    let end = 0;
    for (const [from, to] of ranges) {
      if (from > end) element.append(gap(from - end));
      element.append(...piece(text, from, to, mark));
      end = to;
    }
  };
  const gap = (size) =>
    h(
      "button.gap-button",
      { type: "button", onclick: () => show([[0, text.length]]) },
      `${count(size)} characters not shown · show all`,
    );
  show(
    text.length <= WHOLE
      ? [[0, text.length]]
      : joined(
          [
            [0, HEAD],
            ...(mark ? [[mark[0] - AROUND, mark[1] + AROUND]] : []),
            [text.length - TAIL, text.length],
          ],
          text.length,
        ),
  );
  return element;
}

function piece(text, from, to, mark) {
  if (!mark || mark[0] < from || mark[1] > to) return visible(text.slice(from, to));
  return [
    ...visible(text.slice(from, mark[0])),
    h("mark", { title: "extracted" }, visible(text.slice(...mark))),
    ...visible(text.slice(mark[1], to)),
  ];
}

function joined(ranges, length) {
  const result = [];
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && from <= last[1]) last[1] = Math.min(length, Math.max(last[1], to));
    else result.push([Math.max(0, from), Math.min(length, to)]);
  }
  return result;
}
