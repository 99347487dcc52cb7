// One model's reply to a sample, and what came of it.

import { copy, h } from "./dom.js";
import { count, score } from "./format.js";
import { locate } from "./locate.js";
import { longText } from "./longtext.js";
import { outcomeMark } from "./marks.js";
import { optionsTable } from "./options.js";
import { asText, visible } from "./visible.js";

const JUDGE = /judge_repl(y|ies)$/;
const SHOWN = new Set([
  "prediction",
  "gold",
  "choices",
  "finish_reason",
  "reasoning",
  "usage",
  "logprobs",
  "error",
  "continuations",
  "ppl",
  "loss",
  "token_len",
  "total_chr_num",
  "pred_label",
  "pred_label_norm",
  "dropped_shots",
]);

/** Return {reply, facts}: elements for the reply's side and for the side of its verdict. */
export function replyOf(sample, outcome) {
  const { record, detail } = sample;
  const pred = detail.metadata?.pred ?? detail.pred;
  const replies = Array.isArray(record.prediction) ? record.prediction : [record.prediction];
  const scored = record.continuations !== undefined;
  const places = replies.map((reply) => (scored ? null : locate(pred, reply)));
  return {
    reply: [
      detail.error || record.error
        ? block("Error", longText(asText(detail.error ?? record.error)))
        : null,
      record.reasoning
        ? h(
            "details.folded",
            {},
            h("summary", {}, `Reasoning, ${count(record.reasoning.length)} characters`),
            longText(asText(record.reasoning)),
          )
        : null,
      scored
        ? block(...optionsTable(record, detail))
        : replies.map((reply, n) =>
            reply === undefined || reply === null
              ? null
              : block(
                  replies.length > 1 ? `Reply ${n + 1}` : "Reply",
                  reply === ""
                    ? h("p.note", {}, "The reply is empty.")
                    : longText(asText(reply), places[n]),
                ),
          ),
      !scored && record.choices ? block(...optionsTable(record, detail)) : null,
      judged(detail.metadata ?? {}),
    ],
    facts: [
      verdict(detail, outcome),
      extracted(pred, detail, places, scored),
      reference(sample),
      figures(record, detail),
      rest(sample),
    ],
  };
}

function block(title, ...content) {
  return h("section.block", {}, h("h3", {}, title), content);
}

function fact(title, ...content) {
  return h("div.fact", {}, h("dt", {}, title), h("dd", {}, content));
}

function verdict(detail, outcome) {
  const scores = Object.entries(detail.score ?? {}).map(
    ([name, value]) => `${name} ${score(value, value % 1 ? 3 : 0)}`,
  );
  return fact(
    "Verdict",
    outcomeMark(outcome, { word: true }),
    scores.length ? h("span.note", {}, ` ${scores.join(", ")}`) : null,
  );
}

function extracted(pred, detail, places, scored) {
  if (detail.error) return null;
  const empty =
    pred === null || pred === undefined || pred === "" || (Array.isArray(pred) && !pred.length);
  const own =
    detail.metadata?.pred !== undefined && detail.metadata.pred !== detail.pred
      ? h("p.note", {}, `by the benchmark: ${asText(detail.pred)}; then by the Evaluator`)
      : null;
  if (empty) return fact("Extracted", h("span.none", {}, "nothing"), own);
  const where = scored
    ? null
    : h(
        "p.note",
        {},
        places.some(Boolean) ? "marked in the reply" : "not in the reply in these words",
      );
  return fact(
    scored ? "Chosen" : "Extracted",
    h("span.value-text", { dir: "auto" }, longText(asText(pred))),
    own,
    where,
  );
}

function reference({ record, detail }) {
  const gold = asText(record.gold);
  const answer = detail.answer ?? record.gold;
  const whole =
    gold && gold !== asText(answer)
      ? h("details.folded", {}, h("summary", {}, "as in the data"), longText(gold))
      : null;
  return fact("Reference", h("span.value-text", { dir: "auto" }, longText(asText(answer))), whole);
}

function figures(record) {
  const texts = [];
  if (record.finish_reason)
    texts.push(
      record.finish_reason === "length"
        ? "✂ cut at max_tokens (length)"
        : `ended: ${record.finish_reason}`,
    );
  if (record.usage)
    texts.push(
      ...Object.entries(record.usage)
        .filter(([name, value]) => typeof value === "number" && name !== "total_tokens")
        .map(([name, value]) => `${count(value)} ${name.replace("_", " ")}`),
    );
  if (typeof record.prediction === "string" && !record.continuations)
    texts.push(`${count(record.prediction.length)} characters`);
  if (record.dropped_shots)
    texts.push(`${record.dropped_shots} shots left out: the prompt was too long`);
  return texts.length
    ? fact(
        "About the reply",
        texts.map((text) => h("div", {}, text)),
      )
    : null;
}

/** What judges said, wherever Evaluators have put it. */
function judged(metadata, name = "") {
  return Object.entries(metadata).flatMap(([key, value]) => {
    if (JUDGE.test(key))
      return [value]
        .flat()
        .map((reply) =>
          block(`The judge's words${name ? `, ${name}` : ""}`, longText(asText(reply))),
        );
    return value && typeof value === "object" && !Array.isArray(value) && key !== "sample"
      ? judged(value, key)
      : [];
  });
}

function rest({ record, detail }) {
  const more = Object.entries(detail.metadata ?? {}).filter(
    ([key]) => !JUDGE.test(key) && key !== "pred",
  );
  const own = Object.entries(record).filter(([key]) => !SHOWN.has(key));
  const entries = [...more, ...own].map(([key, value]) =>
    h(
      "div.entry",
      {},
      h("span.entry-name", {}, key),
      " ",
      h("span.entry-value", { dir: "auto" }, visible(shorten(asText(value)))),
    ),
  );
  return entries.length ? fact("Further", entries) : null;
}

function shorten(text) {
  return text.length > 1500 ? `${text.slice(0, 1500)} … (${count(text.length)} characters)` : text;
}

/** A button that copies a sample as JSON, its whole prompt included. */
export function copyJson(sample, id) {
  const { prompt, shared, record, detail } = sample;
  const whole = typeof prompt === "string" ? shared.text + prompt : joinMessages(prompt, shared);
  const button = h(
    "button",
    {
      type: "button",
      onclick: () =>
        copy(
          JSON.stringify({ sample_id: id, origin_prompt: whole, ...record, detail }, null, 2),
          button,
        ),
    },
    "Copy JSON",
  );
  return button;
}

function joinMessages(prompt, shared) {
  if (!Array.isArray(prompt) || !shared.text)
    return Array.isArray(prompt) ? [...shared.messages, ...prompt] : prompt;
  return [
    ...shared.messages,
    { ...prompt[0], content: shared.text + prompt[0].content },
    ...prompt.slice(1),
  ];
}
