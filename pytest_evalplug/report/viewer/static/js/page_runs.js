// All runs of a work dir, the newest first.

import { h } from "./dom.js";
import { count, duration, plural, score, when } from "./format.js";
import { address } from "./route.js";

const STATES = {
  running: "● running",
  stopped: "■ stopped before its end",
  finished: "",
  unreadable: "! unreadable",
};

export async function showRuns({ source, main }) {
  let before = "";
  const draw = async () => {
    const runs = await source.runs();
    if (JSON.stringify(runs) === before) return true;
    before = JSON.stringify(runs);
    main.replaceChildren(
      h("h1", {}, "Runs"),
      runs.length
        ? listOf(runs)
        : h(
            "p.note",
            {},
            "There are no runs in this folder yet. They appear here when they begin.",
          ),
    );
    return true;
  };
  await draw();
  return { title: "Runs", poll: draw };
}

function listOf(runs) {
  return h(
    "div.scroll",
    {},
    h(
      "table.runs",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Run", "Models", "Benchmarks", "Samples", "Scores"].map((text, n) =>
            h(n === 3 ? "th.num" : "th", { scope: "col" }, text),
          ),
        ),
      ),
      h("tbody", {}, runs.map(runRow)),
    ),
  );
}

function runRow(run) {
  const state = h(`span.state.is-${run.state}`, {}, STATES[run.state] ?? run.state);
  const link = h("a", { href: address({ run: run.name }) }, when(run.name));
  if (run.error)
    return h("tr", {}, h("td", {}, link, " ", state), h("td", { colspan: 4 }, run.error));
  return h(
    "tr",
    {},
    h("td", {}, link, " ", state),
    h("td", {}, (run.models ?? []).join(", ")),
    h(
      "td",
      {},
      run.benchmarks.slice(0, 6).join(", ") +
        (run.benchmarks.length > 6 ? ` and ${run.benchmarks.length - 6} more` : ""),
    ),
    h(
      "td.num.samples",
      {},
      run.errors ? h("span.errors", {}, `${plural(run.errors, "error")} in `) : null,
      count(run.samples),
    ),
    h("td", {}, run.live ? progressText(run.live) : scoresOf(run)),
  );
}

export function progressText(live) {
  const parts = [`${count(live.done)} of ${count(live.total)}`];
  if (live.rate) parts.push(`${live.rate.toFixed(1)}/s`);
  if (live.left) parts.push(`${duration(live.left)} left`);
  return parts.join(", ");
}

function scoresOf(run) {
  const failed = (run.gates ?? []).filter((gate) => gate.outcome === "failed").length;
  return [
    failed ? h("span.gate-failed", {}, `✗ ${plural(failed, "gate")} failed `) : null,
    (run.rows ?? []).map((row) =>
      h(
        "span.headline",
        {},
        `${row.dataset} `,
        h(
          "b",
          {},
          Object.values(row.scores)
            .map((cell) => (cell ? score(cell.value) : "–"))
            .join(" / "),
        ),
      ),
    ),
  ];
}
