// What is shown once: keys, tokens, links.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { openDialog, toast } from "./dialog.js";
import { time } from "./format.js";
import { qr } from "./qr.js";
import { text } from "./words.js";

/** secret shows a text that can be copied. The clipboard is there in secure contexts alone; elsewhere the text is selected. */
export const secret = (
  value,
  label,
  autofocus = false,
) => html`<div class="secret"><input type="text" readonly ?autofocus=${autofocus} aria-label=${label} .value=${value} @focus=${(e) => e.target.select()}>
  <button type="button" class="button" @click=${(e) => copy(value, e.currentTarget.previousElementSibling)}>${text("shared.copy")}</button></div>`;

async function copy(value, box) {
  try {
    await navigator.clipboard.writeText(value);
    toast(text("shared.secret.copied"));
  } catch {
    box.focus();
    box.select();
    toast(text("shared.secret.selected"));
  }
}

/** showSecret shows one in a dialog that says it is shown once, selected to be copied; the key that made it does not close it. With link it is one to open, and a QR code stands beside it. */
export const showSecret = ({ title, text: value, intro, link = false, expiresAt, more }) =>
  openDialog(({ close }) => ({
    title,
    body: html`<p>${intro}</p>
    ${secret(value, title, true)}
    ${link ? html`<div class="qr-box">${qr(value, title)}</div>` : nothing}
    ${expiresAt ? html`<p class="muted">${text("shared.secret.until", { time: time(expiresAt) })}</p>` : html`<p class="notice wait">${text("shared.secret.once")}</p>`}
    ${more ?? nothing}`,
    actions: html`<button type="button" class="button primary" @click=${() => close()}>${text("shared.secret.done")}</button>`,
  }));
