// Texts that people wrote, where there is room for a few lines.

import { html } from "../vendor/lit-html/lit-html.js";

const few = 40,
  most = 60; // characters that take less than a line; and that are never cut

/** brief shows a text in three lines at most; all of it stands in its title, and on paper. */
export const brief = (text) =>
  String(text ?? "").length > few
    ? html`<span class="clamp" dir="auto" title=${text}>${text}</span>`
    : html`<span dir="auto">${text ?? ""}</span>`;

const word = 24; // characters that have room in a column of a table

/** whole shows a code, which is not broken at its hyphen unless it is long. */
export const whole = (code) => html`<bdi class=${code.length > word ? "wrap" : "whole"}>${code}</bdi>`;

let segments; // made when it is needed: that takes milliseconds
const characters = (text) =>
  Intl.Segmenter
    ? Array.from(
        (segments ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })).segment(text),
        (s) => s.segment,
      )
    : [...text];

/** cut gives the beginning of a text, for sentences. What people see as one character is one. */
export function cut(text) {
  const all = text.length > most ? characters(text) : [];
  return all.length > most ? `${all.slice(0, most - 1).join("")}…` : text;
}
