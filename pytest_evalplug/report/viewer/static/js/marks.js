// Small things that stand for an outcome, a share, an interval.

import { h } from "./dom.js";
import { OUTCOMES } from "./format.js";

/** A verdict as a symbol, and as a word for those who don't see it or don't know it. */
export function outcomeMark(letter, { word = false } = {}) {
  const { symbol, word: name } = OUTCOMES[letter] ?? { symbol: "–", word: "not there" };
  if (word)
    return h(
      `span.outcome.is-${letter}`,
      {},
      h("span", { "aria-hidden": true }, symbol),
      ` ${name}`,
    );
  return h(`span.outcome.is-${letter}`, { role: "img", "aria-label": name, title: name }, symbol);
}

/** A bar from 0 to `value` with the interval as a whisker; all are on 0 … `top`. */
export function intervalBar(value, interval, top) {
  const percent = (x) => `${Math.max(0, Math.min(100, (100 * x) / (top || 1)))}%`;
  const bar = h(
    "span.ibar",
    { "aria-hidden": true },
    h("span.ibar-fill", { css: { width: percent(value) } }),
  );
  if (interval) {
    const [low, high] = interval.map((x) => Math.max(0, Math.min(top, x)));
    bar.append(h("span.ibar-whisker", { css: { left: percent(low), width: percent(high - low) } }));
  }
  return bar;
}

/** Return the interval of a summary's cell, or about that from its standard error. */
export function intervalOf(cell) {
  if (cell.interval) return cell.interval;
  return typeof cell.stderr === "number"
    ? [cell.value - 1.96 * cell.stderr, cell.value + 1.96 * cell.stderr]
    : null;
}

/** One bar of outcomes side by side: [[letter, count], …], widths by count. */
export function shares(counts, total) {
  const parts = counts.filter(([, n]) => n > 0);
  const text = parts.map(([letter, n]) => `${n} ${OUTCOMES[letter].word}`).join(", ");
  return h(
    "span.shares",
    { role: "img", "aria-label": text, title: text },
    parts.map(([letter, n]) =>
      h(`span.share.is-${letter}`, { css: { width: `${(100 * n) / (total || 1)}%` } }),
    ),
  );
}
