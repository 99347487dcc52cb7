// A long list of which only the rows in sight exist.

import { h } from "./dom.js";

const SPARE = 8;

export class VirtualList {
  /** `row(position, place)` makes a row's link; `label` names the list. */
  constructor({ label, row, height }) {
    this.row = row;
    this.height = height;
    this.items = [];
    this.selected = -1;
    this.space = h("div.list-space", { role: "rowgroup" });
    this.element = h(
      "div.list",
      { role: "grid", "aria-label": label, tabindex: "0", onscroll: () => this.draw() },
      this.space,
    );
    new ResizeObserver(() => this.draw(true)).observe(this.element);
  }

  /** Show these items; the selection stays with its item if it is still there. */
  show(items, selectedItem) {
    this.items = items;
    this.selected = selectedItem === undefined ? -1 : items.indexOf(selectedItem);
    this.element.setAttribute("aria-rowcount", items.length);
    this.space.style.setProperty("height", `${items.length * this.height()}px`);
    if (this.selected >= 0) this.reveal();
    this.draw(true);
  }

  /** Select another row; it is scrolled to. */
  move(steps) {
    if (!this.items.length) return;
    this.selected = Math.max(0, Math.min(this.items.length - 1, this.selected + steps));
    this.reveal();
    this.draw(true);
    this.space.querySelector("[aria-selected=true]")?.focus({ preventScroll: true });
  }

  reveal() {
    const height = this.height();
    const [top, view] = [this.selected * height, this.element.clientHeight];
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + height > this.element.scrollTop + view)
      this.element.scrollTop = top + height - view;
  }

  draw(anew = false) {
    const height = this.height();
    const first = Math.max(0, Math.floor(this.element.scrollTop / height) - SPARE);
    const last = Math.min(
      this.items.length,
      Math.ceil((this.element.scrollTop + this.element.clientHeight) / height) + SPARE,
    );
    if (!anew && first === this.first && last === this.last) return;
    if (anew) this.space.style.setProperty("height", `${this.items.length * height}px`);
    [this.first, this.last] = [first, last];
    const rows = [];
    for (let place = first; place < last; place++) {
      const row = this.row(this.items[place], place);
      row.style.setProperty("top", `${place * height}px`);
      row.style.setProperty("height", `${height}px`);
      row.setAttribute("aria-rowindex", place + 1);
      row.setAttribute("aria-selected", place === this.selected);
      rows.push(row);
    }
    this.space.replaceChildren(...rows);
  }
}
