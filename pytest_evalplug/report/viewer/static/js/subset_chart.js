// The scores of a benchmark's subsets.

import { card } from "./charts.js";
import { h } from "./dom.js";
import { score } from "./format.js";
import { intervalBar, intervalOf } from "./marks.js";

/** Each subset's first metric, with its 95 % interval; a click shows that subset. */
export function subsetChart({ first, others, filters }, change) {
  const columns = [first, ...others];
  const lines = first.tables.map((table) => ({
    table,
    cells: columns.map((column) => column.tables.find((t) => t.dataset === table.dataset)),
  }));
  const metric = Object.keys(
    first.tables.find((table) => Object.keys(table.metrics).length)?.metrics ?? {},
  )[0];
  if (!metric) return null;
  const values = lines.flatMap(({ cells }) =>
    cells.map((cell) => cell?.metrics[metric]).filter((value) => typeof value === "number"),
  );
  const top = Math.max(...values) <= 1 ? 1 : Math.max(100, ...values);
  return card(
    `${metric} by subset`,
    h(
      "div.subsets",
      {},
      lines.map(({ table, cells }) =>
        h(
          "button.subset",
          {
            type: "button",
            "aria-pressed": filters.subset === table.subset,
            onclick: () => change({ subset: filters.subset === table.subset ? "" : table.subset }),
          },
          h("span.subset-name", {}, breakable(table.subset)),
          h(
            "span.subset-bars",
            {},
            cells.map((cell) => {
              const value = cell?.metrics[metric];
              if (typeof value !== "number")
                return h("span.subset-line", {}, h("span.ibar"), h("span.num", {}, "–"));
              return h(
                "span.subset-line",
                {},
                intervalBar(
                  value,
                  intervalOf({
                    value,
                    interval: cell.intervals?.[metric],
                    stderr: cell.stderr[metric],
                  }),
                  top,
                ),
                h("span.num", {}, score(value, 1)),
              );
            }),
          ),
        ),
      ),
    ),
    columns.length > 1
      ? h("p.chart-note", {}, `From above: ${columns.map((column) => column.name).join(", ")}.`)
      : null,
  );
}

/** Let a name go on in the next line behind its underscores and dashes. */
function breakable(name) {
  return name.split(/(?<=[_-])/).flatMap((part) => [part, h("wbr")]);
}
