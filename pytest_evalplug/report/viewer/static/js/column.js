// One model's samples of one benchmark, all its subsets after one another.

const LISTS = ["ids", "ask", "pred", "answer", "score", "chars", "tokens", "confidence"];

export class Column {
  /** Load a model's tables of a benchmark. `tables` are those of the run's overview. */
  static async load(source, run, model, tables) {
    const indexes = await Promise.all(
      tables.map((table) => source.block(run.name, table.key, "index")),
    );
    return new Column(source, run, model, tables, indexes);
  }

  constructor(source, run, model, tables, indexes) {
    Object.assign(this, { source, run, model, tables, indexes });
    this.name = model;
    this.subsets = tables.map((table) => table.subset);
    this.outcomes = indexes.map((index) => index.outcomes).join("");
    this.length = this.outcomes.length;
    for (const list of LISTS) this[list] = this.joined(list);
    this.tableOf = new Uint16Array(this.length);
    this.firstOf = [];
    this.noAnswer = new Uint8Array(this.length);
    this.truncated = new Uint8Array(this.length);
    let first = 0;
    indexes.forEach((index, number) => {
      const size = index.outcomes.length;
      this.firstOf.push(first);
      this.tableOf.fill(number, first, first + size);
      for (const position of index.no_answer) this.noAnswer[first + position] = 1;
      for (const position of index.truncated) this.truncated[first + position] = 1;
      first += size;
    });
    this.chunks = new Map();
  }

  /** Return a list over all samples, or null where no table has it. */
  joined(list) {
    if (!this.indexes.some((index) => index[list])) return null;
    return this.indexes.flatMap(
      (index) => index[list] ?? new Array(index.outcomes.length).fill(null),
    );
  }

  dataset(i) {
    return this.tables[this.tableOf[i]].dataset;
  }

  subset(i) {
    return this.subsets[this.tableOf[i]];
  }

  /** Return the position of a sample, or -1. */
  find(dataset, id) {
    this.positions ??= new Map(this.ids.map((own, i) => [`${this.dataset(i)}\n${own}`, i]));
    return this.positions.get(`${dataset}\n${id}`) ?? -1;
  }

  /** Return everything that is known of a sample: {prompt, record, detail}. */
  async sample(i) {
    const number = this.tableOf[i];
    const { starts, shared } = this.indexes[number];
    const position = i - this.firstOf[number];
    let chunk = starts.length - 1;
    while (starts[chunk] > position) chunk -= 1;
    const found = (await this.chunk(number, chunk))[position - starts[chunk]];
    return { ...found, shared: found.cut ? shared : { messages: [], text: "" } };
  }

  chunk(number, chunk) {
    const key = `${this.tables[number].key}/${chunk}`;
    if (!this.chunks.has(key)) {
      if (this.chunks.size > 8) this.chunks.delete(this.chunks.keys().next().value);
      this.chunks.set(key, this.source.block(this.run.name, this.tables[number].key, chunk));
    }
    return this.chunks.get(key);
  }

  /** Return each sample's texts in lower case, to be searched: own prompt, reply, pred, reference. */
  haystacks() {
    this.texts ??= this.readTexts().catch((error) => {
      this.texts = undefined;
      throw error;
    });
    return this.texts;
  }

  async readTexts() {
    const read = async (table, chunk) =>
      (await this.source.block(this.run.name, table.key, chunk)).map(haystack);
    const texts = this.indexes.flatMap(({ starts }, number) =>
      starts.map((_, chunk) => read(this.tables[number], chunk)),
    );
    return (await Promise.all(texts)).flat();
  }
}

function haystack({ prompt, record, detail }) {
  const values = [
    prompt,
    record.prediction,
    record.reasoning,
    record.gold,
    record.choices,
    detail.pred,
    detail.answer,
    detail.sample_id,
    detail.error,
  ];
  const texts = values.map((value) =>
    typeof value === "string" ? value : value ? JSON.stringify(value) : "",
  );
  return texts.join("\n").toLowerCase();
}
