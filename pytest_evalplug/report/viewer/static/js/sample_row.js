// A sample in the list.

import { h } from "./dom.js";
import { count, score } from "./format.js";
import { outcomeMark } from "./marks.js";
import { address } from "./route.js";
import { visible } from "./visible.js";

/** Return where a sample's own page is. */
export function placeOf(i, { first }, route) {
  return { ...route, dataset: first.dataset(i), id: first.ids[i] };
}

/** Make what stands above the rows. */
export function rowHead({ first }) {
  const last = first.score ? "score" : first.confidence ? "share" : first.chars ? "length" : "";
  const names = ["", "sample", "prompt", "pred / reference", last];
  const classes = ["marks", "id", "ask", "answers", "length"];
  return h(
    "div.row-head",
    { "aria-hidden": true },
    names.map((name, n) => h(`span.${classes[n]}`, {}, name)),
  );
}

/** Make a sample's row: verdicts, id, prompt, pred and reference, and one number. */
export function sampleRow(i, found, route) {
  const { first, others } = found;
  const marks = [
    outcomeMark(first.outcomes[i]),
    ...others.map((other) => {
      const there = other.find(first.dataset(i), first.ids[i]);
      return outcomeMark(there < 0 ? "-" : other.outcomes[there]);
    }),
  ];
  return h(
    "a.row",
    { role: "row", href: address(placeOf(i, found, route)) },
    h("span.marks", { role: "gridcell" }, marks),
    h("span.id", { role: "gridcell" }, h("bdi", {}, visible(first.ids[i]))),
    h("span.ask", { role: "gridcell", dir: "auto" }, visible(first.ask?.[i] ?? "")),
    h(
      "span.answers",
      { role: "gridcell" },
      predOf(first, i),
      h("span.arrow", { title: "reference" }, " / "),
      h("bdi.answer", { title: "reference" }, visible(first.answer?.[i] ?? "")),
    ),
    h("span.length", { role: "gridcell" }, figureOf(first, i)),
  );
}

/** Return the one number of a sample that says most: its score, its confidence, or its length. */
function figureOf({ score: scores, confidence, chars }, i) {
  if (typeof scores?.[i] === "number") return score(scores[i]);
  if (typeof confidence?.[i] === "number")
    return h(
      "span",
      { title: "the chosen option's share of probability" },
      `${Math.round(100 * confidence[i])} %`,
    );
  return typeof chars?.[i] === "number"
    ? h("span", { title: "characters of the reply" }, `${count(chars[i])} ch`)
    : "";
}

function predOf(column, i) {
  if (column.outcomes[i] === "e") return h("span.none", {}, "error");
  if (column.noAnswer[i]) return h("span.none", {}, "no answer");
  return h("bdi.pred", { title: "pred" }, visible(column.pred?.[i] ?? ""));
}
