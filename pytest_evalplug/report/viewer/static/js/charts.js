// The charts of a dataset.

import { h, svg } from "./dom.js";
import { count, OUTCOMES, plural } from "./format.js";
import { calibration, histogram } from "./stats.js";

const [WIDTH, HEIGHT] = [380, 160];
const PLOT = { left: 38, right: 8, top: 8, bottom: 22 };
const INNER = { width: WIDTH - PLOT.left - PLOT.right, height: HEIGHT - PLOT.top - PLOT.bottom };
const x = (share) => PLOT.left + share * INNER.width;
const y = (share) => PLOT.top + (1 - share) * INNER.height;

/** Reply lengths, outcomes stacked; wrong ones are hatched. */
export function lengthChart(column, positions) {
  const tokens = column.tokens !== null;
  const lengths = tokens ? column.tokens : column.chars;
  if (!lengths) return null;
  const values = positions.map((i) => lengths[i]);
  const bins = histogram(
    values,
    positions.map((i) => column.outcomes[i]),
  );
  const sums = bins.map((bin) => Object.values(bin.counts).reduce((a, b) => a + b, 0));
  const top = Math.max(...sums, 1);
  const unit = tokens ? "tokens" : "characters";
  const bars = bins.flatMap((bin, n) => {
    let below = 0;
    return Object.keys(OUTCOMES)
      .filter((letter) => bin.counts[letter])
      .map((letter) => {
        const part = bin.counts[letter];
        const rect = svg(
          `rect.fill-${letter}`,
          {
            x: x(n / bins.length) + 0.5,
            width: INNER.width / bins.length - 1,
            y: y((below + part) / top),
            height: (part / top) * INNER.height,
          },
          svg(
            "title",
            {},
            `${count(Math.round(bin.from))}–${count(Math.round(bin.to))} ${unit}: ${part} ${OUTCOMES[letter].word}`,
          ),
        );
        below += part;
        return rect;
      });
  });
  const edges = [0, bins.length >> 1, bins.length].map((n) =>
    label(
      x(n / bins.length),
      HEIGHT - 5,
      n === bins.length ? compact(bins[n - 1].to) : compact(bins[n].from),
      n === 0 ? "start" : n === bins.length ? "end" : "middle",
    ),
  );
  const letters = Object.keys(OUTCOMES).filter((letter) => bins.some((bin) => bin.counts[letter]));
  return card(
    `Reply length, ${unit}`,
    drawing(
      `Reply lengths of ${plural(values.length, "sample")}, up to ${count(bins.at(-1).to)} ${unit}`,
      hatch(),
      frame([0, top], compact),
      bars,
      edges,
    ),
    legend(letters),
  );
}

/** The reliability diagram of likelihood runs; null without confidences. */
export function calibrationChart(column, positions) {
  if (!column.confidence) return null;
  const { bins, total, ece } = calibration(
    positions.map((i) => column.confidence[i]),
    positions.map((i) => column.outcomes[i]),
  );
  if (!total) return null;
  const most = Math.max(...bins.map((bin) => bin.n));
  const marks = bins
    .filter((bin) => bin.n)
    .map((bin) => {
      const [confidence, accuracy] = [bin.sum / bin.n, bin.right / bin.n];
      const title = `confidence ${confidence.toFixed(2)}, right ${(100 * accuracy).toFixed(0)} %, ${plural(bin.n, "sample")}`;
      return [
        svg("line.gap", {
          x1: x(confidence),
          x2: x(confidence),
          y1: y(confidence),
          y2: y(accuracy),
        }),
        svg(
          "circle.dot",
          { cx: x(confidence), cy: y(accuracy), r: 3 + 4 * Math.sqrt(bin.n / most) },
          svg("title", {}, title),
        ),
      ];
    });
  const diagonal = svg("line.diagonal", { x1: x(0), y1: y(0), x2: x(1), y2: y(1) });
  const below = ["0", "0.5", "1"].map((text, n) =>
    label(x(n / 2), HEIGHT - 5, text, ["start", "middle", "end"][n]),
  );
  return card(
    "Calibration of the choices",
    drawing(
      `Reliability diagram, expected calibration error ${ece.toFixed(3)}`,
      frame([0, 1], (value) => value.toFixed(1)),
      diagonal,
      marks,
      below,
    ),
    h(
      "p.chart-note",
      {},
      `Upward: the share that is right; to the right: the share of probability that the chosen option has. Expected calibration error ${ece.toFixed(3)} (n = ${count(total)}).`,
    ),
  );
}

export function card(title, ...content) {
  return h("section.chart", {}, h("h3", {}, title), content);
}

function drawing(text, ...content) {
  return svg(
    "svg.plot",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": text },
    content,
  );
}

function frame([low, high], show) {
  return [0, 0.5, 1].map((share) => [
    svg("line.grid", { x1: x(0), x2: x(1), y1: y(share), y2: y(share) }),
    label(PLOT.left - 6, y(share) + 4, show(low + share * (high - low)), "end"),
  ]);
}

function hatch() {
  return svg(
    "defs",
    {},
    svg(
      "pattern",
      {
        id: "hatch",
        width: 5,
        height: 5,
        patternUnits: "userSpaceOnUse",
        patternTransform: "rotate(45)",
      },
      svg("rect.hatch-ground", { width: 5, height: 5 }),
      svg("rect.hatch-line", { width: 2, height: 5 }),
    ),
  );
}

function label(left, top, text, anchor) {
  return svg("text.tick", { x: left, y: top, "text-anchor": anchor }, text);
}

function legend(letters) {
  return h(
    "p.legend",
    {},
    letters.map((letter) =>
      h("span", {}, h(`span.key.fill-${letter}`, { "aria-hidden": true }), OUTCOMES[letter].word),
    ),
  );
}

function compact(value) {
  if (value >= 10000) return `${(value / 1000).toFixed(0)}k`;
  if (value >= 1000) return `${(value / 1000).toFixed(1)}k`;
  return value % 1 ? value.toFixed(1) : String(value);
}
