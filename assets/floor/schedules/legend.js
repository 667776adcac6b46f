// What the signs of the chart mean, and how it is used.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { looks } from "./bars.js";

/** legend explains the chart: zone is the clock that it shows, write tells whether the person may change schedules. */
export const legend = ({ zone, write, loading }) => html`<div class="gantt-foot">
  <ul class="gantt-legend" aria-label="Signs">${Object.entries(looks).map(([name, { sign, word }]) => html`<li><i class=${`swatch production ${name}`} aria-hidden="true">${sign}</i> ${word}</li>`)}
    <li><i class="swatch nonProduction planned" aria-hidden="true">◆</i> Non-production</li><li><i class="swatch out" aria-hidden="true"></i> Out of shift</li></ul>
  <p class="muted small">Times are those of the clock in ${zone}.${loading ? " Reading schedules …" : ""}</p>
  ${
    write
      ? html`<details class="gantt-help"><summary>Mouse, touch and keyboard</summary>
    <dl class="facts"><dt>Mouse</dt><dd>Drag a bar to move it, its right end to change how long it takes. Alt: by the second instead of 5 minutes. Escape while dragging: back. Double click on free time: plan there.</dd>
      <dt>Touch</dt><dd>Press long on a bar, then drag it.</dd>
      <dt><kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd></dt><dd>Take the bar up and move it in time, or to the station above or below. Nothing changes until you put it down.</dd>
      <dt><kbd>Shift</kbd> <kbd>←</kbd> <kbd>→</kbd></dt><dd>Shorter, longer.</dd>
      <dt><kbd>Enter</kbd></dt><dd>Puts down what is carried; else opens the schedule. <kbd>Escape</kbd> puts it back.</dd>
      <dt><kbd>Ctrl</kbd> and arrows</dt><dd>To the next bar, or to the next station.</dd>
      <dt><kbd>Delete</kbd></dt><dd>Deletes the schedule, with a question. <kbd>Insert</kbd> plans one behind it.</dd>
      <dt><kbd>Ctrl</kbd> <kbd>Z</kbd></dt><dd>Takes the last change back.</dd></dl></details>`
      : nothing
  }</div>`;
