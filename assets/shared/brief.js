// Texts that people wrote, where there is room for a few lines.

import { html } from "../vendor/lit-html/lit-html.js";

const few = 40, most = 60; // characters that take less than a line; and that are never cut

/** brief shows a text in three lines at most; all of it stands in its title, and on paper. */
export const brief = (text) => (String(text ?? "").length > few ? html`<span class="clamp" dir="auto" title=${text}>${text}</span>` : html`<span dir="auto">${text ?? ""}</span>`);

/** cut gives the beginning of a text, for sentences. */
export const cut = (text) => (text.length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
