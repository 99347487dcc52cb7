// The choice of what stands beside a model: another model, or another run's.

import { h } from "./dom.js";
import { besideOf } from "./columns.js";
import { when } from "./format.js";

/** Return a select that adds a column, and a button for each that is there. */
export function besideChoice(source, found, route, change) {
  const chosen = besideOf(route.query);
  const set = (names) => change({ with: names.join("|"), ...(names.length ? {} : { flip: "" }) });
  const own = found.models.filter(
    (model) => model !== found.first.model && !chosen.includes(model),
  );
  const select = h(
    "select",
    { "data-key": "with", onchange: () => select.value && set([...chosen, select.value]) },
    h("option", { value: "" }, chosen.length ? "add …" : "nothing"),
    own.map((model) => h("option", { value: model }, model)),
  );
  if (source.live)
    source.runs().then(
      (runs) => select.append(...groups(runs, found, route, chosen)),
      () => undefined,
    );
  else if (!own.length && !chosen.length) return [];
  return [
    h("label.choice", {}, h("span", {}, "Beside"), select),
    ...chosen.map((name) =>
      h(
        "button.chip",
        {
          type: "button",
          "data-key": `beside-${name}`,
          "aria-label": `Take ${name} away`,
          onclick: () => set(chosen.filter((other) => other !== name)),
        },
        name.replace("~", " / "),
        " ✕",
      ),
    ),
  ];
}

function groups(runs, found, route, chosen) {
  return runs
    .filter((run) => run.name !== found.run.name && run.benchmarks?.includes(route.benchmark))
    .slice(0, 50)
    .map((run) =>
      h(
        "optgroup",
        { label: when(run.name) },
        run.models
          .filter((model) => !chosen.includes(`${run.name}~${model}`))
          .map((model) => h("option", { value: `${run.name}~${model}` }, model)),
      ),
    );
}
