// What the model was asked, as it was sent.

import { h } from "./dom.js";
import { count, plural } from "./format.js";
import { longText } from "./longtext.js";
import { asText } from "./visible.js";

/** Return elements of a sample's prompt: what all prompts share, or came before, can be opened. */
export function conversation({ prompt, shared }) {
  if (prompt === undefined || prompt === null) return [h("p.note", {}, "The prompt is not kept.")];
  if (!Array.isArray(prompt)) {
    return [
      shared.text
        ? folded(`The beginning that prompts share, ${count(shared.text.length)} characters`, [
            longText(shared.text),
          ])
        : null,
      message("prompt", asText(prompt)),
    ].filter(Boolean);
  }
  const messages = [...shared.messages, ...prompt];
  const last = messages.findLastIndex((m) => m?.role === "user");
  const start = Math.max(0, last);
  const before = messages.slice(0, start).map((m) => [m, messageOf(m)]);
  const system = before.filter(([m]) => m.role === "system").map(([, element]) => element);
  const shots = before.filter(([m]) => m.role !== "system").map(([, element]) => element);
  const own = messages
    .slice(start)
    .map((m, n) => messageOf(m, start + n === shared.messages.length ? shared.text : ""));
  return [
    ...system,
    shots.length
      ? folded(`${plural(shots.length, "message")} before, few-shot examples mostly`, shots)
      : null,
    ...own,
  ].filter(Boolean);
}

function messageOf(entry, before = "") {
  if (typeof entry !== "object" || entry === null) return message("message", asText(entry));
  const parts = before
    ? [
        folded(`The beginning that prompts share, ${count(before.length)} characters`, [
          longText(before),
        ]),
      ]
    : [];
  const content = Array.isArray(entry.content)
    ? entry.content.map((part) => (part?.type === "text" ? part.text : asText(part))).join("\n")
    : asText(entry.content);
  const rest = Object.entries(entry).filter(([name]) => !["role", "content"].includes(name));
  const extra = rest.length
    ? [h("pre.json", {}, rest.map(([name, value]) => `${name}: ${asText(value)}`).join("\n"))]
    : [];
  return message(String(entry.role ?? "message"), content, parts, extra);
}

function message(role, text, before = [], after = []) {
  return h(
    "div.message",
    { "data-role": role },
    h("div.role", {}, role),
    before,
    longText(text),
    after,
  );
}

function folded(title, content) {
  return h("details.folded", {}, h("summary", {}, title), content);
}
