// Bars as SVG, which prints well and needs no styles of its own. A bar stands beside its value, so it is hidden from readers.

import { html, svg } from "../../vendor/lit-html/lit-html.js";

const at = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;

/** bar draws parts from the left: [{from, to (shares of the whole), kind (a class that has its colour)}]. more is further SVG. */
export const bar = (parts, more = "") =>
  html`<svg class="chart-bar" aria-hidden="true"><rect class="track" width="100%" height="100%"></rect>${parts.filter((p) => p.to > p.from).map((p) => svg`<rect class=${p.kind} x=${at(p.from)} width=${at(at1(p.to) - at1(p.from))} height="100%" fill=${p.hatched ? "url(#hatched)" : "currentColor"}></rect>`)}${more}</svg>`;

const at1 = (share) => Math.max(0, Math.min(1, share));

/** mark draws an upright line. */
export const mark = (share, kind) => svg`<line class=${kind} x1=${at(share)} x2=${at(share)} y1="0" y2="100%"></line>`;

/** between draws a line from the top to the bottom, as the part of a longer one that goes on in the next row. */
export const between = (from, to) =>
  svg`<line class="halo" x1=${at(from)} y1="0" x2=${at(to)} y2="100%"></line><line class="cumulative" x1=${at(from)} y1="0" x2=${at(to)} y2="100%"></line><circle class="cumulative" cx=${at(to)} cy="100%" r="2.5"></circle>`;

/** hatching is what bars of a second kind are filled with, so that they are told apart without colour. It stands once in a page. */
export const hatching = html`<svg class="hatching" aria-hidden="true" width="0" height="0"><defs><pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
  <rect class="hatched-ground" width="6" height="6"></rect><line class="hatched-line" x1="0" y1="0" x2="0" y2="6"></line></pattern></defs></svg>`;
