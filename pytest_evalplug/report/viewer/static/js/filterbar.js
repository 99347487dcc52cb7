// The filters above a list; each change goes into the address, so that back undoes it.

import { h } from "./dom.js";
import { besideOf } from "./columns.js";
import { count, OUTCOMES } from "./format.js";

const SORTS = {
  "": "in order",
  "length-down": "longest first",
  "length-up": "shortest first",
  "score-up": "lowest score first",
  "score-down": "highest score first",
  "confidence-down": "most confident first",
  "confidence-up": "least confident first",
};
const TYPING_MS = 120;

/** Make the bar. `change(entries, {typing})` sets entries of the address's query. */
export function makeFilterBar(change) {
  let timer;
  const search = h("input", {
    type: "search",
    placeholder: "Search prompt, reply, answer …",
    "aria-label": "Search in prompt, reply, pred and reference",
    "aria-keyshortcuts": "/",
    spellcheck: "false",
    autocomplete: "off",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => change({ q: search.value }, { typing: true }), TYPING_MS);
    },
  });
  const chips = h("div.chips", { role: "group", "aria-label": "Filters" });
  const choices = h("div.choices");
  const element = h(
    "form.filters",
    { role: "search", onsubmit: (event) => event.preventDefault() },
    h("div.search", {}, search),
    choices,
    chips,
  );

  function update(found, query) {
    const { first, filters, counts } = found;
    if (document.activeElement !== search) search.value = filters.text;
    const focused = document.activeElement?.dataset?.key;
    chips.replaceChildren(
      ...outcomeChips(first, filters, counts),
      ...flagChips(filters, counts),
      ...(found.flipped ? flipChips(found) : []),
    );
    choices.replaceChildren(...selects(found, query));
    if (focused) element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  function chip(key, content, n, pressed, act) {
    return h(
      "button.chip",
      {
        type: "button",
        "data-key": key,
        "aria-pressed": pressed,
        disabled: !n && !pressed,
        onclick: act,
      },
      content,
      h("span.count", {}, count(n)),
    );
  }

  function outcomeChips(first, filters, counts) {
    const skipped = first.tables.reduce((sum, table) => sum + table.num_skipped, 0);
    const chips = Object.entries(OUTCOMES)
      .filter(([letter]) => first.outcomes.includes(letter) || filters.outcomes.has(letter))
      .map(([letter, { symbol, word }]) =>
        chip(
          letter,
          [h(`span.outcome.is-${letter}`, { "aria-hidden": true }, symbol), ` ${word} `],
          counts.outcome[letter],
          filters.outcomes.has(letter),
          () => change({ show: toggled(filters.outcomes, letter) }),
        ),
      );
    if (skipped && !first.outcomes.includes("s")) {
      const why = "Skipped samples are counted, but nothing of them is kept";
      chips.push(
        h("span.chip.is-off", { title: why }, "⊘ skipped ", h("span.count", {}, count(skipped))),
      );
    }
    return chips;
  }

  function flagChips(filters, counts) {
    return Object.entries({ no_answer: "no answer found ", truncated: "cut at max_tokens " })
      .filter(([flag]) => counts.flag[flag] || filters.flags.has(flag))
      .map(([flag, text]) =>
        chip(flag, text, counts.flag[flag], filters.flags.has(flag), () =>
          change({ flag: toggled(filters.flags, flag) }),
        ),
      );
  }

  function flipChips({ filters, counts, first, others }) {
    const other = others.length === 1 ? others[0].name : "another";
    const texts = {
      any: "flipped ",
      gain: `right in ${other} alone `,
      loss: `right in ${first.name} alone `,
    };
    return Object.entries(texts).map(([flip, text]) =>
      chip(`flip-${flip}`, text, counts.flip[flip], filters.flip === flip, () =>
        change({ flip: filters.flip === flip ? "" : flip }),
      ),
    );
  }

  function selects(found, query) {
    const { first, filters, counts, models } = found;
    const made = [];
    if (models.length > 1)
      made.push(
        select(
          "m",
          "Model",
          models.map((m) => [m, m]),
          first.model,
          (value) =>
            change({
              m: value,
              with: besideOf(query)
                .filter((name) => name !== value)
                .join("|"),
              flip: "",
            }),
        ),
      );
    if (first.subsets.length > 1)
      made.push(
        select(
          "subset",
          "Subset",
          [
            ["", `all ${first.subsets.length}`],
            ...first.subsets.map((s) => [s, `${s} (${count(counts.subset[s])})`]),
          ],
          filters.subset,
          (value) => change({ subset: value }),
        ),
      );
    const sorts = Object.entries(SORTS).filter(
      ([key]) =>
        !key ||
        { length: first.chars, score: first.score, confidence: first.confidence }[
          key.split("-")[0]
        ],
    );
    if (sorts.length > 1)
      made.push(select("sort", "Order", sorts, filters.sort, (value) => change({ sort: value })));
    return made;
  }

  function select(key, text, options, value, act) {
    return h(
      "label.choice",
      {},
      h("span", {}, text),
      h(
        "select",
        { "data-key": key, onchange: (event) => act(event.target.value) },
        options.map(([option, name]) =>
          h("option", { value: option, selected: option === value }, name),
        ),
      ),
    );
  }

  return { element, update, search, choices };
}

function toggled(values, value) {
  const changed = new Set(values);
  if (!changed.delete(value)) changed.add(value);
  return [...changed].join(",");
}
