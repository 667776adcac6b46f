// Figures that can be asked how they came about. Any page shows a figure with figureButton; a click opens a dialog with its
// terms, the rule, and what it is summed from, down to the minutes and the signals.
//
// A spec says which figure is meant:
//
//   figure   a name of figures (explain/names.js), such as "availability" or "losses.downtime.ms"
//   profile  that of GET /oee; left out, it is the default one
//   query    what the page asked the API: {plantcode, groupcode, stationcodes, from, to or rangecode, archived}
//   row      the result that the figure stands in, where it is one of several: its place, SKU, shift and time narrow the query
//   value    the figure as the page shows it, where row does not have it: the dialog tells when it is another by now
//
// The figure of a station's shift so far is that of {stationcodes: code, from: shift.startAt, to: shift.until}.

import { html } from "../vendor/lit-html/lit-html.js";
import { attempt } from "./dialog.js";
import { text } from "./words.js";

/** explain opens the dialog of a figure, and gives a promise that it is closed. */
export const explain = (spec) => attempt(async () => (await import("./explain/dialog.js")).open(spec));

/** figureButton shows a figure that can be asked. figure is it as people read it; spec may be a function that gives it. */
export const figureButton = (figure, spec) =>
  html`<button type="button" class="figure" title=${text("shared.explain")} aria-haspopup="dialog" @click=${() => explain(typeof spec === "function" ? spec() : spec)}>${figure}</button>`;
