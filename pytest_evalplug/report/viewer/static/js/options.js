// The options of a sample as they were shown, and how likely each was, where that was the question.

import { h } from "./dom.js";
import { asText, visible } from "./visible.js";

/** Return a title and the table. */
export function optionsTable(record, detail) {
  const choices = [record.choices ?? record.continuations ?? []].flat();
  const right = new Set([record.gold].flat().map(String));
  const chosen = String(record.pred_label ?? detail.pred ?? "");
  const logprobs = logprobsOf(record, choices.length);
  const shares = logprobs && sharesOf(logprobs);
  const ppl = numbers(record.ppl, choices.length);
  const rows = choices.map((choice, n) => {
    const letter = letterOf(n);
    return h(
      "tr",
      { "data-right": right.has(letter), "data-chosen": chosen === letter },
      h("th", { scope: "row" }, letter),
      h(
        "td.option",
        {},
        h("bdi", {}, visible(asText(choice))),
        " ",
        tags(right.has(letter), chosen === letter),
      ),
      logprobs ? h("td.num.log", {}, `log p ${logprobs[n].toFixed(2)}`) : null,
      ppl ? h("td.num.log", {}, `ppl ${ppl[n].toFixed(2)}`) : null,
      shares ? shareCell(shares[n]) : null,
    );
  });
  const title = shares
    ? "Options, by likelihood"
    : ppl
      ? "Options, by perplexity"
      : "Options as shown";
  return [title, h("div.scroll", {}, h("table.options", {}, h("tbody", {}, rows)))];
}

function tags(isRight, isChosen) {
  return h(
    "span.tags",
    {},
    isRight ? h("span.tag.is-r", {}, "✓ reference") : null,
    " ",
    isChosen ? h("span.tag", {}, "chosen") : null,
  );
}

function shareCell(share) {
  const percent = `${(100 * share).toFixed(1)} %`;
  const bar = h("span.ibar", {}, h("span.ibar-fill", { css: { width: `${100 * share}%` } }));
  return h(
    "td.share-cell",
    { title: "share of all options' probability" },
    bar,
    h("span.num", {}, percent),
  );
}

/** Return the log-probability of each choice, or null where that was not the question. */
function logprobsOf({ continuations, logprobs, loss }, size) {
  if (!continuations) return null;
  return numbers(loss, size)?.map((value) => -value) ?? numbers(logprobs, size);
}

function numbers(list, size) {
  const fits = Array.isArray(list) && list.length === size;
  return fits && list.every((value) => typeof value === "number") ? list : null;
}

function sharesOf(logprobs) {
  const top = Math.max(...logprobs);
  const weights = logprobs.map((value) => Math.exp(value - top));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** A, B, … Z, AA, AB, … */
function letterOf(n) {
  const last = String.fromCharCode(65 + (n % 26));
  return n < 26 ? last : letterOf(Math.floor(n / 26) - 1) + last;
}
