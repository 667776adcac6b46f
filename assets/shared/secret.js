// What is shown once: keys, tokens, links.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { openDialog, toast } from "./dialog.js";
import { time } from "./format.js";
import { qr } from "./qr.js";

/** secret shows a text that can be copied. The clipboard is there in secure contexts alone; elsewhere the text is selected. */
export const secret = (
  text,
  label,
  autofocus = false,
) => html`<div class="secret"><input type="text" readonly ?autofocus=${autofocus} aria-label=${label} .value=${text} @focus=${(e) => e.target.select()}>
  <button type="button" class="button" @click=${(e) => copy(text, e.currentTarget.previousElementSibling)}>Copy</button></div>`;

async function copy(text, box) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    box.focus();
    box.select();
    toast("Selected: copy it with the keyboard.");
  }
}

/** showSecret shows one in a dialog that says it is shown once, selected to be copied; the key that made it does not close it. With link it is one to open, and a QR code stands beside it. */
export const showSecret = ({ title, text, intro, link = false, expiresAt, more }) =>
  openDialog(({ close }) => ({
    title,
    body: html`<p>${intro}</p>
    ${secret(text, title, true)}
    ${link ? html`<div class="qr-box">${qr(text, title)}</div>` : nothing}
    ${expiresAt ? html`<p class="muted">It works once, until ${time(expiresAt)}.</p>` : html`<p class="notice wait">It is shown this once. Who loses it needs a new one.</p>`}
    ${more ?? nothing}`,
    actions: html`<button type="button" class="button primary" @click=${() => close()}>Done</button>`,
  }));
