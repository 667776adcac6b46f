// Elements are made by hand: text is always text, never markup.

import { text } from "./words.js";

/**
 * el makes an element. Properties that start with "on" are listeners, null and false ones are left out, the others are
 * attributes; children are nodes or text, nested arrays of them, or null.
 */
export function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** snippet makes a block of code with a button that copies it. */
export function snippet(content, { wrap = false, label = text("shared.copy") } = {}) {
  const code = el("pre", { tabindex: "0" }, el("code", null, content));
  return el(
    "div",
    { class: wrap ? "snippet wrap" : "snippet" },
    code,
    copyButton(() => code, label),
  );
}

/** copyButton makes a button that copies the text of an element. */
export function copyButton(source, label) {
  const button = el("button", { type: "button", class: "copy", "aria-label": label }, text("shared.copy"));
  wireCopy(button, source);
  return button;
}

/** wireCopy makes a button copy the text of the element that source gives, and say that it did. */
export function wireCopy(button, source) {
  const face = button.textContent;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(source())) ? text("shared.copy.done") : text("shared.copy.selected");
    setTimeout(() => {
      button.textContent = face;
    }, 2000);
  });
}

// The clipboard is there in secure contexts alone. Elsewhere the text is selected, so that the keyboard copies it.
async function copy(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(node);
    return false;
  }
}
