// The samples that an address's filters leave, for the list and for going from one to the next.

import { openColumns } from "./columns.js";
import { filtersOf, flips, select } from "./filter.js";

/** Return {run, models, first, others, filters, flipped, positions, counts}. */
export async function browse(source, route) {
  const columns = await openColumns(source, route);
  const { first, others } = columns;
  const filters = filtersOf(route.query);
  const flipped = others.length ? flips(first, others) : null;
  const texts = filters.text.trim() ? await first.haystacks() : null;
  return { ...columns, filters, flipped, ...select(first, filters, flipped, texts) };
}
