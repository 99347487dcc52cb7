// Which samples are shown, and how many each filter would show.

const FACETS = { outcome: 1, subset: 2, flag: 4, flip: 8, text: 16 };

/** Return the filters that an address asks for. */
export function filtersOf(query) {
  const listed = (name) => new Set((query.get(name) ?? "").split(",").filter(Boolean));
  return {
    outcomes: listed("show"),
    subset: query.get("subset") ?? "",
    flags: listed("flag"),
    flip: query.get("flip") ?? "",
    text: query.get("q") ?? "",
    sort: query.get("sort") ?? "",
  };
}

/** Return how samples of a column stand in others: "same", "gain" (right only there), "loss". */
export function flips(column, others) {
  const found = new Array(column.length).fill("same");
  for (const other of others) {
    for (let i = 0; i < column.length; i++) {
      const there = other.find(column.dataset(i), column.ids[i]);
      const pair = column.outcomes[i] + (there < 0 ? "-" : other.outcomes[there]);
      if (pair === "wr" && found[i] !== "loss") found[i] = "gain";
      else if (pair === "rw") found[i] = "loss";
    }
  }
  return found;
}

/**
 * Return {positions, counts}. A count is over what the other filters let through. `texts` are the
 * haystacks, needed only with a text filter; `flipped` is what flips() returned.
 */
export function select(column, filters, flipped, texts) {
  const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = {
    total: column.length,
    outcome: {},
    subset: {},
    flag: {},
    flip: { any: 0, gain: 0, loss: 0 },
  };
  const positions = [];
  const add = (facet, value) => (counts[facet][value] = (counts[facet][value] ?? 0) + 1);
  for (let i = 0; i < column.length; i++) {
    const outcome = column.outcomes[i];
    const subset = column.subset(i);
    const flip = flipped ? flipped[i] : "same";
    let fails = 0;
    if (filters.outcomes.size && !filters.outcomes.has(outcome)) fails |= FACETS.outcome;
    if (filters.subset && filters.subset !== subset) fails |= FACETS.subset;
    if (!hasFlags(column, i, filters.flags)) fails |= FACETS.flag;
    if (filters.flip && !(filters.flip === "any" ? flip !== "same" : flip === filters.flip))
      fails |= FACETS.flip;
    if (words.length && texts && !words.every((word) => texts[i].includes(word)))
      fails |= FACETS.text;
    if (!fails) positions.push(i);
    if (!(fails & ~FACETS.outcome)) add("outcome", outcome);
    if (!(fails & ~FACETS.subset)) add("subset", subset);
    if (!(fails & ~FACETS.flag)) {
      if (column.noAnswer[i]) add("flag", "no_answer");
      if (column.truncated[i]) add("flag", "truncated");
    }
    if (!(fails & ~FACETS.flip) && flip !== "same") {
      add("flip", flip);
      add("flip", "any");
    }
  }
  return { positions: sorted(column, positions, filters.sort), counts };
}

function hasFlags(column, i, flags) {
  return (
    (!flags.has("no_answer") || column.noAnswer[i]) &&
    (!flags.has("truncated") || column.truncated[i])
  );
}

function sorted(column, positions, sort) {
  const [name, direction] = sort.split("-");
  const values = {
    length: column.chars,
    tokens: column.tokens,
    score: column.score,
    confidence: column.confidence,
  }[name];
  if (!values) return positions;
  const sign = direction === "down" ? -1 : 1;
  // those without a value come last either way; equal ones stay in order
  return positions.sort((a, b) => {
    const [x, y] = [values[a], values[b]];
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    return sign * (x - y) || a - b;
  });
}
