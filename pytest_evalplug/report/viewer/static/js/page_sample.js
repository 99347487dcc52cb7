// One sample: the conversation, and each model's reply to it.

import { besideChoice } from "./beside.js";
import { browse } from "./browsing.js";
import { conversation } from "./conversation.js";
import { copy, h, say } from "./dom.js";
import { count } from "./format.js";
import { rememberOpened } from "./page_dataset.js";
import { copyJson, replyOf } from "./reply.js";
import { outcomeMark } from "./marks.js";
import { address, withQuery } from "./route.js";
import { visible } from "./visible.js";

export async function showSample({ source, main, route, navigate }) {
  const found = await browse(source, route);
  const { first, others, positions } = found;
  const position = first.find(route.dataset, route.id);
  if (position < 0) throw new Error(`${route.benchmark} has no sample ${route.id}`);
  rememberOpened(route.benchmark, route.dataset, route.id);
  const columns = (
    await Promise.all([first, ...others].map((column) => reading(column, route)))
  ).filter(Boolean);

  const place = positions.indexOf(position);
  const neighbour = (step) => (place < 0 ? undefined : positions[place + step]);
  const addressOf = (i) => address({ ...route, dataset: first.dataset(i), id: first.ids[i] });
  const go = (step) =>
    neighbour(step) !== undefined &&
    navigate(
      { ...route, dataset: first.dataset(neighbour(step)), id: first.ids[neighbour(step)] },
      { replace: true },
    );
  const change = (entries) => navigate({ ...route, query: withQuery(route.query, entries) });

  main.replaceChildren(
    h(
      "div.sample-bar",
      {},
      step("‹ Previous", "k", neighbour(-1), addressOf),
      step("Next ›", "j", neighbour(1), addressOf),
      h(
        "span.place",
        {},
        place < 0 ? "outside the filters" : `${count(place + 1)} of ${count(positions.length)}`,
      ),
      h("span.fill"),
      besideChoice(source, found, route, change),
      linkButton(),
      copyJson(columns[0].sample, route.id),
    ),
    h(
      "h1.sample-title",
      {},
      columns.length > 1 ? null : [outcomeMark(first.outcomes[position], { word: true }), " "],
      h("bdi", {}, visible(route.id)),
      first.subsets.length > 1 ? h("span.note", {}, ` ${first.subset(position)}`) : null,
    ),
    h("section.asked", { "aria-label": "Prompt" }, conversation(columns[0].sample)),
    h(
      `div.replies.of-${Math.min(columns.length, 3)}`,
      {},
      columns.map((column) => replyColumn(column, columns.length > 1)),
    ),
  );
  say(`Sample ${route.id}`);
  return {
    title: route.id,
    shown: () => scrollTo(0, 0),
    keys: {
      j: () => go(1),
      ArrowRight: () => go(1),
      k: () => go(-1),
      ArrowLeft: () => go(-1),
      "/": () => navigate({ ...route, dataset: undefined, id: undefined }, { search: true }),
    },
  };
}

async function reading(column, route) {
  const i = column.find(route.dataset, route.id);
  return i < 0
    ? { name: column.name }
    : { name: column.name, outcome: column.outcomes[i], sample: await column.sample(i) };
}

function replyColumn({ name, outcome, sample }, several) {
  const title = h(
    "h2.column-name",
    {},
    several && outcome ? [outcomeMark(outcome), " "] : null,
    h("bdi", {}, name),
  );
  if (!sample) return h("article.column", {}, title, h("p.note", {}, "has not this sample"));
  const { reply, facts } = replyOf(sample, outcome);
  return h(
    `article.column${several ? "" : ".alone"}`,
    { "aria-label": name },
    title,
    h("div.reply", {}, reply.flat(2).filter(Boolean)),
    h("dl.facts", {}, facts.filter(Boolean)),
  );
}

function step(text, key, target, addressOf) {
  if (target === undefined) return h("span.button.is-off", { "aria-disabled": true }, text);
  return h(
    "a.button",
    { href: addressOf(target), "aria-keyshortcuts": key, title: `key ${key}` },
    text,
  );
}

function linkButton() {
  const button = h(
    "button",
    { type: "button", onclick: () => copy(location.href, button) },
    "Copy link",
  );
  return button;
}
