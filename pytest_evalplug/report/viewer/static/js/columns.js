// The columns that an address asks for: a model, and those beside it, of this run or another.

import { Column } from "./column.js";
import { say } from "./dom.js";

const loaded = new Map();

/** Return {run, first, others, failed}: the models of the address's `m` and `with`. */
export async function openColumns(source, route) {
  const run = await source.run(route.run);
  const tables = tablesOf(run, route.benchmark);
  if (!tables.length) throw new Error(`The run has no benchmark ${route.benchmark}`);
  const models = [...new Set(tables.map((table) => table.model))];
  const asked = route.query.get("m");
  const model = models.includes(asked) ? asked : models[0];
  const first = await open(source, run, model, tables);
  const others = [];
  for (const name of besideOf(route.query)) {
    try {
      others.push(await openBeside(source, run, route.benchmark, name));
    } catch (error) {
      say(`${name}: ${error.message}`);
    }
  }
  return { run, models, first, others };
}

/** Return the names in `with`: a model, or another run's as `run~model`. */
export function besideOf(query) {
  return (query.get("with") ?? "").split("|").filter(Boolean);
}

function openBeside(source, run, benchmark, name) {
  const at = name.indexOf("~");
  if (at < 0) return open(source, run, name, tablesOf(run, benchmark));
  return source.run(name.slice(0, at)).then(async (other) => {
    const column = await open(source, other, name.slice(at + 1), tablesOf(other, benchmark));
    column.name = `${name.slice(at + 1)} (${other.name})`;
    return column;
  });
}

async function open(source, run, model, every) {
  const tables = every.filter((table) => table.model === model);
  if (!tables.length) throw new Error(`no results of ${model}`);
  const key = [run.name, ...tables.map((table) => `${table.key}:${table.stamp ?? ""}`)].join("\n");
  if (!loaded.has(key)) {
    if (loaded.size >= 8) loaded.delete(loaded.keys().next().value);
    loaded.set(
      key,
      Column.load(source, run, model, tables).catch((error) => {
        loaded.delete(key);
        throw error;
      }),
    );
  }
  return loaded.get(key);
}

function tablesOf(run, benchmark) {
  return run.tables.filter((table) => table.benchmark === benchmark);
}
