// Elements. Text goes in as text nodes only, so nothing that a model says is ever markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: h("p.note", {title: "…", onclick: f, css: {width: "3px"}}, "text", child). */
export function h(what, attributes, ...children) {
  return fill(document.createElement(nameOf(what)), what, attributes, children);
}

/** Make an SVG element, as h does. */
export function svg(what, attributes, ...children) {
  return fill(document.createElementNS(SVG, nameOf(what)), what, attributes, children);
}

function nameOf(what) {
  return what.split(".", 1)[0];
}

function fill(element, what, attributes, children) {
  const classes = what.split(".").slice(1);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (/^(aria|data)-/.test(name) && value !== null)
      element.setAttribute(name, value); // false says something there
    else if (value === null || value === undefined || value === false) continue;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "css")
      for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Say something to those who can't see it change. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** Copy a text; tell on the button how that went. */
export async function copy(text, button) {
  const before = button.textContent;
  let done = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea.unseen");
    area.value = text;
    document.body.append(area);
    area.select();
    if (!document.execCommand("copy")) done = "Not allowed";
    area.remove();
  }
  button.textContent = done;
  say(done);
  setTimeout(() => (button.textContent = before), 1200);
}
