// Where in a reply the extracted answer stands.

const NUMBER = /[-+−]?\d[\d,\u00a0\u2009\u202f_]*(?:\.\d+)?|[-+−]?\.\d+/g;
const WORD = /[\p{L}\p{N}]/u;

/** Return [start, end] of the last place in `reply` that says `pred`, or null. */
export function locate(pred, reply) {
  const only = Array.isArray(pred) && pred.length === 1 ? pred[0] : pred;
  if (!["string", "number"].includes(typeof only) || typeof reply !== "string") return null;
  const text = String(only).trim();
  if (!text || text.length > 5000) return null;
  return lastWhole(text, reply) ?? lastNumber(text, reply) ?? lastLoose(text, reply);
}

function lastWhole(text, reply) {
  for (let from = reply.length; from >= 0;) {
    const start = reply.lastIndexOf(text, from);
    if (start < 0) return null;
    const end = start + text.length;
    if (isWhole(reply, start, end)) return [start, end];
    from = start - 1;
  }
  return null;
}

/** Tell whether no word or number goes on beyond the ends. */
function isWhole(reply, start, end) {
  const before = reply.slice(Math.max(0, start - 2), start);
  const after = reply.slice(end, end + 2);
  if (WORD.test(reply[start]) && WORD.test(before.slice(-1))) return false;
  if (WORD.test(reply[end - 1]) && WORD.test(after.slice(0, 1))) return false;
  const digits = /\d/.test(reply[start]) && /\d[.,]$/.test(before);
  return !digits && !(/\d/.test(reply[end - 1]) && /^[.,]\d/.test(after));
}

function lastNumber(text, reply) {
  const wanted = valueOf(text.replace(/^\\?\$|%$/g, ""));
  if (wanted === null) return null;
  let found = null;
  for (const match of reply.matchAll(NUMBER)) {
    const shown = match[0].replace(/[,\u00a0\u2009\u202f_]+$/, "");
    if (valueOf(shown) === wanted) found = [match.index, match.index + shown.length];
  }
  return found;
}

function valueOf(text) {
  const plain = text.replace(/[,\u00a0\u2009\u202f_]/g, "").replace("−", "-");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : null;
}

/** Find it in any case and with any white space. */
function lastLoose(text, reply) {
  if (text.length > 300) return null;
  const escaped = text.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  let found = null;
  for (const match of reply.matchAll(new RegExp(escaped.join("\\s+"), "giu"))) {
    if (isWhole(reply, match.index, match.index + match[0].length)) found = match;
  }
  return found && [found.index, found.index + found[0].length];
}
