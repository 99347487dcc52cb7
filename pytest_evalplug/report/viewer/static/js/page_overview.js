// One run: its table, its notes, and how far it is.

import { h } from "./dom.js";
import { count, duration, plural, score, when } from "./format.js";
import { intervalBar, intervalOf, shares } from "./marks.js";
import { address } from "./route.js";

const SHOWN_NOTES = 6;

export async function showOverview({ source, main, route }) {
  let run;
  const draw = async () => {
    run = await source.run(route.run);
    main.replaceChildren(...contentOf(run));
    return run.state === "running";
  };
  await draw();
  return { title: when(run.name), poll: run.state === "running" ? draw : null };
}

function contentOf(run) {
  return [
    h("h1", {}, `Run ${when(run.name)}`),
    h("p.note", {}, factsOf(run)),
    run.live ? progressOf(run) : null,
    run.gates.length ? gatesOf(run.gates) : null,
    run.rows.length ? tableOf(run) : null,
    run.notes.length ? notesOf(run.notes) : null,
  ].filter(Boolean);
}

function factsOf(run) {
  const sum = (name) => run.tables.reduce((total, table) => total + table[name], 0);
  const parts = [
    plural(run.models.length, "model"),
    plural(new Set(run.tables.map((t) => t.benchmark)).size, "benchmark"),
    plural(sum("num_samples"), "sample"),
  ];
  if (sum("num_errors")) parts.push(plural(sum("num_errors"), "error"));
  if (sum("num_skipped")) parts.push(`${count(sum("num_skipped"))} skipped`);
  if (run.tables.some((table) => table.partial)) parts.push("a partial run");
  return parts.join(" · ");
}

// --- while it runs

function progressOf(run) {
  const { live } = run;
  const running = run.state === "running";
  const parts = [`${count(live.done)} of ${count(live.total)} samples`];
  if (live.predicted > live.done) parts.push(`${count(live.predicted)} predicted`);
  if (running && live.rate) parts.push(`${live.rate.toFixed(1)} a second`);
  if (running && live.left) parts.push(`${duration(live.left)} left`);
  if (live.wrong) parts.push(`${count(live.wrong)} wrong`);
  if (live.errors) parts.push(plural(live.errors, "error"));
  return h(
    "section.live",
    { "aria-label": "Progress" },
    h(
      "h2",
      {},
      h(`span.state.is-${run.state}`, {}, running ? "● Running" : "■ Stopped before its end"),
    ),
    h("progress", { max: live.total || 1, value: live.done, "aria-label": "Samples done" }),
    h("p.figures", {}, parts.join(", ")),
    running && live.silent > 30
      ? h("p.note", {}, `Nothing new for ${duration(live.silent)}.`)
      : null,
    h(
      "div.scroll",
      {},
      h(
        "table.parts",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Dataset", "Model", "Done", "", "Right", "Wrong", "Errors"].map((text, n) =>
              h(n > 3 || n === 2 ? "th.num" : "th", { scope: "col" }, text),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          live.parts.map((part) =>
            h(
              "tr",
              {},
              h(
                "td",
                {},
                h(
                  "a",
                  {
                    href: address({
                      run: run.name,
                      benchmark: part.benchmark,
                      query: new URLSearchParams({ m: part.model }),
                    }),
                  },
                  part.dataset,
                ),
              ),
              h("td", {}, part.model),
              h("td.num", {}, `${count(part.done)} / ${count(part.total)}`),
              h(
                "td",
                {},
                shares(
                  [
                    ["r", part.right],
                    ["w", part.wrong],
                    ["e", part.errors],
                    ["s", part.skipped],
                  ],
                  part.total,
                ),
              ),
              h("td.num", {}, count(part.right)),
              h("td.num", {}, count(part.wrong)),
              h("td.num", {}, count(part.errors)),
            ),
          ),
        ),
      ),
    ),
  );
}

// --- the table

function tableOf(run) {
  const withMode = new Set(run.rows.map((row) => row.mode)).size > 1;
  const head = ["Dataset", "Metric", ...(withMode ? ["Mode"] : [])].map((text) =>
    h("th", { scope: "col" }, text),
  );
  const models = run.models.map((model) => h("th.model", { scope: "col" }, h("bdi", {}, model)));
  return h(
    "div.scroll",
    {},
    h(
      "table.summary",
      { "aria-label": "Summary" },
      h("thead", {}, h("tr", {}, head, models)),
      h(
        "tbody",
        {},
        groupsOf(run).flatMap((group) => summaryRows(run, group, withMode)),
      ),
    ),
  );
}

/** Return rows by benchmark, in the table's order; what is no benchmark's is a group by itself. */
function groupsOf(run) {
  const owner = new Map();
  for (const table of run.tables)
    owner.set(table.dataset, table.benchmark).set(table.benchmark, table.benchmark);
  const groups = [];
  for (const row of run.rows) {
    const benchmark = owner.get(row.dataset);
    const last = groups.at(-1);
    if (benchmark !== undefined && last?.benchmark === benchmark) last.rows.push(row);
    else groups.push({ benchmark, rows: [row] });
  }
  return groups;
}

function summaryRows(run, { benchmark, rows }, withMode) {
  const whole = rows.filter((row) => row.dataset === benchmark || benchmark === undefined);
  const parts = rows.filter((row) => !whole.includes(row));
  if (!whole.length || !parts.length)
    return rows.map((row, n) =>
      summaryRow(run, benchmark, row, withMode, {
        repeated: n > 0 && rows[n - 1].dataset === row.dataset,
      }),
    );
  const lines = parts.map((row, n) =>
    summaryRow(run, benchmark, row, withMode, {
      part: true,
      repeated: n > 0 && parts[n - 1].dataset === row.dataset,
    }),
  );
  const subsets = new Set(parts.map((row) => row.dataset)).size;
  const setOpen = (open) => {
    lines.forEach((line) => (line.hidden = !open));
    button.setAttribute("aria-expanded", open);
    button.textContent = `${open ? "▾" : "▸"} ${plural(subsets, "subset")}`;
  };
  const button = h("button.quiet.expand", {
    type: "button",
    onclick: () => setOpen(button.getAttribute("aria-expanded") !== "true"),
  });
  setOpen(subsets <= 12);
  return [
    ...whole.map((row, n) =>
      summaryRow(run, benchmark, row, withMode, {
        whole: true,
        repeated: n > 0,
        button: n === 0 ? button : null,
      }),
    ),
    ...lines,
  ];
}

function summaryRow(
  run,
  benchmark,
  row,
  withMode,
  { part = false, whole = false, repeated = false, button = null } = {},
) {
  const query = part
    ? { subset: run.tables.find((t) => t.dataset === row.dataset)?.subset ?? "" }
    : {};
  const place = (more) =>
    address({ run: run.name, benchmark, query: new URLSearchParams({ ...query, ...more }) });
  const name = benchmark === undefined ? row.dataset : h("a", { href: place({}) }, row.dataset);
  const classes = `tr${part ? ".part" : ""}${whole ? ".whole" : ""}${repeated ? ".repeated" : ""}`;
  return h(
    classes,
    {},
    h(
      "th",
      { scope: "row", title: `version ${row.version}` },
      repeated
        ? h("span.unseen", {}, row.dataset)
        : [h("bdi", {}, name), button ? [" ", button] : null],
    ),
    h("td.metric", {}, row.metric),
    withMode ? h("td", {}, row.mode) : null,
    run.models.map((model) =>
      cellOf(row, row.scores[model], benchmark === undefined ? null : place({ m: model })),
    ),
  );
}

function cellOf(row, cell, href) {
  if (!cell) return h("td.cell", {}, h("span.value", {}, "–"));
  const shares = Object.values(row.scores).every(
    (other) => !other || (other.value >= 0 && other.value <= 1),
  );
  const top = row.percent ? 100 : shares ? 1 : null; // of another scale, nobody knows the end
  const interval = intervalOf(cell);
  const range = interval ? `${score(interval[0], 1)} – ${score(interval[1], 1)}` : "";
  const text = [
    `${row.metric} ${cell.value}`,
    range && `95 % interval ${range}`,
    `n = ${cell.n}`,
    cell.incomplete,
  ]
    .filter(Boolean)
    .join("; ");
  const value = h(
    "span.value",
    {},
    score(cell.value),
    cell.incomplete ? h("span.partial", { title: cell.incomplete }, "*") : null,
  );
  const figures = [
    value,
    h(
      "span.range",
      {},
      range,
      cell.incomplete ? h("span.unseen", {}, ` incomplete: ${cell.incomplete}`) : null,
    ),
    h("span.n", {}, `n ${count(cell.n)}`),
    top ? intervalBar(cell.value, interval, top) : null,
  ];
  return h("td.cell", { title: text }, href ? h("a", { href }, figures) : h("span", {}, figures));
}

// --- around it

function notesOf(notes) {
  const list = (some) =>
    h(
      "ul",
      {},
      some.map((note) => h("li", {}, note)),
    );
  const more = notes.slice(SHOWN_NOTES);
  return h(
    "section.notes",
    {},
    h("h2", {}, "Notes"),
    list(notes.slice(0, SHOWN_NOTES)),
    more.length
      ? h("details.panel", {}, h("summary", {}, `${count(more.length)} more`), list(more))
      : null,
  );
}

function gatesOf(gates) {
  const symbols = { passed: "✓", failed: "✗", skipped: "⊘" };
  const letters = { passed: "r", failed: "w", skipped: "s" };
  return h(
    "section.gates",
    {},
    h("h2", {}, "Gates"),
    h(
      "ul",
      {},
      gates.map((gate) =>
        h(
          "li",
          {},
          h(
            `b.outcome.is-${letters[gate.outcome]}`,
            {},
            `${symbols[gate.outcome] ?? ""} ${gate.outcome}`,
          ),
          ` ${gate.gate} `,
          h("span.note", {}, [gate.model, gate.message].filter(Boolean).join(": ")),
        ),
      ),
    ),
  );
}
