// Where the data comes from: this file's own blocks, or the server that sent the page.
// Both have runs(), run(name) and block(name, table, block), with the same JSON.

/** Return the source that this page has. */
export function openSource() {
  return document.getElementById("data:run") ? new FileSource() : new ServerSource();
}

class FileSource {
  live = false;

  async runs() {
    const { name, state, models, tables } = await this.run();
    return [
      { name, state, models, benchmarks: [...new Set(tables.map((table) => table.benchmark))] },
    ];
  }

  run() {
    this.only ??= this.read("run");
    return this.only;
  }

  block(name, table, block) {
    return this.read(`${table}/${block}`);
  }

  async read(name) {
    const element = document.getElementById(`data:${name}`);
    if (!element) throw new Error(`This file has no ${name}`);
    const stream = new Blob([bytesOf(element.textContent)])
      .stream()
      .pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i); // ten times as fast as from()
  return bytes;
}

class ServerSource {
  live = true;

  runs() {
    return this.get("/api/runs");
  }

  run(name) {
    return this.get(`/api/runs/${encodeURIComponent(name)}`);
  }

  block(name, table, block) {
    return this.get(`/api/runs/${encodeURIComponent(name)}/${table}/${block}`);
  }

  async get(path) {
    let response;
    try {
      response = await fetch(path);
    } catch {
      throw new Error("The server does not answer. Start it again: evalplug view");
    }
    const content = await response.json();
    if (!response.ok) throw new Error(content.error ?? response.statusText);
    return content;
  }
}
