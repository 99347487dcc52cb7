// The page: from the address to what is shown, keys, and looking again while a run goes on.

import { h, say } from "./dom.js";
import { when } from "./format.js";
import { toggleHelp } from "./help.js";
import { showDataset } from "./page_dataset.js";
import { showOverview } from "./page_overview.js";
import { showRuns } from "./page_runs.js";
import { showSample } from "./page_sample.js";
import { address, parse } from "./route.js";
import { openSource } from "./source.js";
import { installTheme } from "./theme.js";

const POLL_MS = 2000;

const main = document.getElementById("main");
const source = openSource();
let route = parse(location.hash);
let view = null;
let arrivals = 0;

/** Go somewhere. `replace` leaves no step back; `stay` means that the view shows it itself. */
function navigate(target, { replace = false, stay = false, search = false } = {}) {
  const to = address(target);
  if (to !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", to);
  route = parse(to);
  if (stay) drawCrumbs();
  else show().then(() => search && view?.keys?.["/"]?.());
}

async function show() {
  const arrival = ++arrivals;
  try {
    if (route.run === undefined && !source.live)
      route = { ...route, run: (await source.run()).name };
    const stage = h("div.page");
    const made = await pageOf(route)({ source, main: stage, route, navigate });
    if (arrival !== arrivals) return; // one has gone on meanwhile
    view = made;
    main.replaceChildren(stage);
    view.shown?.();
    document.title = `${view.title} · evalplug`;
  } catch (error) {
    if (arrival !== arrivals) return;
    view = null;
    main.replaceChildren(
      h("h1", {}, "That can't be shown"),
      h("p", { role: "alert" }, error.message),
      h("p", {}, h("a", { href: "#/" }, source.live ? "All runs" : "To the run")),
    );
  }
  drawCrumbs();
  if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
}

function pageOf({ run, benchmark, id }) {
  if (run === undefined) return showRuns;
  if (benchmark === undefined) return showOverview;
  return id === undefined ? showDataset : showSample;
}

function drawCrumbs() {
  const { run, benchmark, id, query } = route;
  const places = [
    source.live ? ["Runs", {}] : null,
    run === undefined ? null : [when(run), { run }],
    benchmark === undefined ? null : [benchmark, { run, benchmark, query }],
    id === undefined ? null : [id, route],
  ].filter(Boolean);
  const crumbs = document.getElementById("crumbs");
  crumbs.replaceChildren(
    h(
      "ol",
      {},
      places.map(([text, place], n) =>
        h(
          "li",
          {},
          n === places.length - 1
            ? h("span", { "aria-current": "page" }, text)
            : h("a", { href: address(place) }, text),
        ),
      ),
    ),
  );
  crumbs.scrollLeft = crumbs.scrollWidth;
}

function up() {
  const { run, benchmark, id, query } = route;
  if (id !== undefined) navigate({ run, benchmark, query });
  else if (benchmark !== undefined) navigate({ run });
  else if (run !== undefined && source.live) navigate({});
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
    return;
  const target = event.target;
  if (target.matches("input, textarea, select")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (event.key === "Enter" && target.closest("a, button, summary")) return;
  const act = { "?": toggleHelp, u: up, Escape: up, ...view?.keys }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

async function poll() {
  if (view?.poll && !document.hidden) {
    const asked = view;
    try {
      const goesOn = await asked.poll();
      if (!goesOn && asked === view) await show();
    } catch (error) {
      say(error.message);
    }
  }
  setTimeout(poll, POLL_MS);
}

addEventListener("hashchange", () => {
  route = parse(location.hash);
  show();
});
addEventListener("keydown", onKey);
document.getElementById("help").addEventListener("click", toggleHelp);
installTheme(document.getElementById("theme"));
show();
setTimeout(poll, POLL_MS);
