// One benchmark: its charts, its filters, all its samples.

import { besideChoice } from "./beside.js";
import { browse } from "./browsing.js";
import { calibrationChart, lengthChart } from "./charts.js";
import { h, say } from "./dom.js";
import { makeFilterBar } from "./filterbar.js";
import { count, plural, score } from "./format.js";
import { VirtualList } from "./list.js";
import { shares } from "./marks.js";
import { withQuery } from "./route.js";
import { placeOf, rowHead, sampleRow } from "./sample_row.js";
import { subsetChart } from "./subset_chart.js";

let lastOpened = null;

/** Remember which sample was open, so that the list shows it when one comes back. */
export function rememberOpened(benchmark, dataset, id) {
  lastOpened = { benchmark, dataset, id };
}

export async function showDataset({ source, main, route, navigate }) {
  let found = await browse(source, route);
  let here = route;
  const wide = matchMedia("(min-width: 720px)");
  const change = async (entries, { typing = false } = {}) => {
    here = { ...here, query: withQuery(here.query, entries) };
    navigate(here, { replace: typing, stay: true });
    await update();
  };
  const bar = makeFilterBar(change);
  const figure = h("p.figures", { "aria-live": "polite" });
  const charts = h("div.charts");
  const heading = h("div.heading");
  const head = h("div.head");
  const list = new VirtualList({
    label: "Samples",
    height: () => (wide.matches ? 36 : 62),
    row: (i) => sampleRow(i, found, here),
  });
  const panel = h(
    "details.panel",
    { open: wide.matches && innerHeight > 700 },
    h("summary", {}, "Charts"),
    charts,
  );
  const empty = h(
    "p.note.empty",
    { hidden: true },
    "No sample passes these filters. ",
    h(
      "button",
      {
        type: "button",
        onclick: () => change({ show: "", subset: "", flag: "", flip: "", q: "" }),
      },
      "Clear the filters",
    ),
  );
  main.replaceChildren(
    heading,
    h(
      "div.browse",
      {},
      panel,
      h("div.samples", {}, bar.element, figure, head, list.element, empty),
    ),
  );

  async function update() {
    const asked = here;
    if (here.query.get("q")) figure.textContent = "Searching …";
    const now = await browse(source, here);
    if (asked !== here) return true; // typed on meanwhile
    found = now;
    draw();
    return found.run.state === "running";
  }

  function draw() {
    const { first, positions } = found;
    bar.update(found, here.query);
    bar.choices.append(...besideChoice(source, found, here, change));
    heading.replaceChildren(...headingOf(found, here));
    charts.replaceChildren(...chartsOf(found, here, change));
    panel.hidden = !charts.children.length;
    const text =
      positions.length === first.length
        ? plural(first.length, "sample")
        : `${count(positions.length)} of ${plural(first.length, "sample")}`;
    figure.textContent = text;
    say(text);
    const opened =
      lastOpened?.benchmark === here.benchmark
        ? first.find(lastOpened.dataset, lastOpened.id)
        : undefined;
    list.show(positions, list.selected >= 0 ? list.items[list.selected] : opened);
    empty.hidden = positions.length > 0;
    list.element.hidden = head.hidden = !positions.length;
    head.replaceChildren(rowHead(found));
    main.style.setProperty("--marks", `${20 * (1 + found.others.length) - 6}px`);
  }
  draw();

  const open = (place) =>
    list.items[place] !== undefined && navigate(placeOf(list.items[place], found, here));
  return {
    title: route.benchmark,
    keys: {
      j: () => list.move(1),
      ArrowDown: () => list.move(1),
      k: () => list.move(-1),
      ArrowUp: () => list.move(-1),
      Enter: () => open(list.selected),
      "/": () => bar.search.focus(),
    },
    shown: () => list.selected >= 0 && list.reveal(),
    poll: found.run.state === "running" ? update : null,
  };
}

function headingOf({ first, others, run }, route) {
  return [
    h("h1", {}, route.benchmark),
    h(
      "div.standing",
      {},
      [first, ...others].map((column) => {
        const counts = {};
        for (const letter of column.outcomes) counts[letter] = (counts[letter] ?? 0) + 1;
        return h(
          "div.model-line",
          {},
          h("b", {}, h("bdi", {}, column.name)),
          shares(
            [..."rwesn"].map((letter) => [letter, counts[letter] ?? 0]),
            column.length,
          ),
          h("span.note", {}, measureOf(column, counts, run)),
        );
      }),
    ),
  ];
}

/** Say the model's score where it is one number, else its verdicts. */
function measureOf(column, counts, run) {
  const table = column.tables[0];
  const [metric, value] = Object.entries(table.metrics)[0] ?? [];
  const only =
    column.tables.length === 1 && metric !== undefined ? `${metric} ${score(value)}` : null;
  const verdicts =
    counts.r || counts.w
      ? `${count(counts.r ?? 0)} right of ${count((counts.r ?? 0) + (counts.w ?? 0))}`
      : null;
  const errors = counts.e ? plural(counts.e, "error") : null;
  return [only, verdicts, errors, run.state === "running" ? "running" : null]
    .filter(Boolean)
    .join(" · ");
}

function chartsOf(found, route, change) {
  const { first, positions } = found;
  return [
    first.subsets.length > 1 ? subsetChart(found, change) : null,
    lengthChart(first, positions),
    calibrationChart(first, positions),
  ].filter(Boolean);
}
