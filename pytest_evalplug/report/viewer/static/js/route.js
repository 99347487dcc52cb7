// Where in the page one is, as it stands in the address: #/run/<run>/<benchmark>/<dataset>/<id>?…

/** Return {run, benchmark, dataset, id, query}; what the address doesn't say is undefined. */
export function parse(hash) {
  const [path, search] = split(hash.replace(/^#\/?/, ""));
  const [kind, run, benchmark, dataset, id] = path.split("/").map(decode);
  if (kind !== "run") return { query: new URLSearchParams(search) };
  return { run, benchmark, dataset, id, query: new URLSearchParams(search) };
}

/** Return the address of a place. */
export function address({ run, benchmark, dataset, id, query }) {
  if (run === undefined) return "#/";
  const parts = [run, benchmark, dataset, id].filter((part) => part !== undefined);
  const search = new URLSearchParams(
    [...(query ?? [])].filter(([, value]) => value !== ""),
  ).toString();
  return `#/run/${parts.map(encodeURIComponent).join("/")}${search ? "?" + search : ""}`;
}

/** Return the query with some entries set; null takes one out. */
export function withQuery(query, changes) {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") changed.delete(name);
    else changed.set(name, value);
  }
  return changed;
}

function split(text) {
  const at = text.indexOf("?");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
