// How long the stretches without production are: a column for each class of length, and marks where a stop begins to be one.

import { html, nothing, svg } from "../../vendor/lit-html/lit-html.js";
import { duration, number } from "../../shared/format.js";
import { figure } from "../../shared/plot.js";
import { spell } from "../../shared/ticks.js";
import { text } from "../../shared/words.js";

const width = 640,
  tall = 250,
  foot = 44,
  side = 56,
  head = 34;

const nameOf = (bin) =>
  bin.toMs === null
    ? text("floor.tuner.bin.longer", { from: duration(bin.fromMs) })
    : bin.fromMs === 0
      ? text("floor.tuner.bin.under", { to: duration(bin.toMs) })
      : text("floor.tuner.bin", { from: duration(bin.fromMs), to: duration(bin.toMs) });

/**
 * histogram shows lengths as GET /analysis/standstill gives them. by: "count" or "totalMs". marks are [{ms, label, kind}], of
 * which kind "new" stands out. Empty classes at the ends are left out, as far as no mark lies there.
 */
export function histogram({ lengths, by, marks, name, switched }) {
  const bins = shown(lengths.histogram, marks),
    most = Math.max(1, ...bins.map((b) => b[by]));
  const step = (width - side) / bins.length,
    every = Math.ceil(46 / step),
    root = uneven(bins.map((b) => b[by]));
  const top = (value) => head + (tall - head) * (1 - (root ? Math.sqrt(value / most) : value / most));
  const write = by === "count" ? number : spell;
  const chart = html`<svg class="histogram" viewBox="0 0 ${width} ${tall + foot}" role="img" aria-label=${text("floor.tuner.stretches.all", { n: lengths.count, time: spell(lengths.totalMs) })}>
    ${(most < 2 && by === "count" ? [1] : [root ? 0.25 : 0.5, 1]).map((part) => svg`<line class="grid" x1=${side} x2=${width} y1=${top(most * part)} y2=${top(most * part)}></line><text class="tick" x=${side - 6} y=${top(most * part) + 4} text-anchor="end">${by === "count" ? number(Math.round(most * part)) : hoursOf(most * part)}</text>`)}
    ${bins.map(
      (
        bin,
        i,
      ) => svg`<rect class="bar" x=${side + i * step + 1.5} width=${step - 3} y=${top(bin[by])} height=${tall - top(bin[by])}><title>${text("floor.tuner.bin.stretches", { length: nameOf(bin), n: bin.count, time: spell(bin.totalMs) })}</title></rect>
      ${bin[by] ? svg`<text class="value" x=${side + (i + 0.5) * step} y=${top(bin[by]) - 4} text-anchor="middle">${by === "count" ? write(bin[by]) : nothing}</text>` : nothing}`,
    )}
    <line class="axis" x1=${side} x2=${width} y1=${tall} y2=${tall}></line>
    ${bins.map((bin, i) => (i === 0 || i % every ? nothing : svg`<text class="tick" x=${side + i * step} y=${tall + 17} text-anchor="middle">${short(bin.fromMs)}</text>`))}
    ${marks.map((mark, i) => {
      const x = side + place(bins, mark.ms) * step;
      return svg`<g class=${`mark-line ${mark.kind}`}><line x1=${x} x2=${x} y1=${mark.kind === "new" ? 16 : head - 2} y2=${tall + 4}></line><text x=${Math.min(width - 7 * mark.label.length, Math.max(side + 4, x + 5))} y=${mark.kind === "new" ? 14 : tall + 36} data-mark=${i}>${mark.label}</text></g>`;
    })}
  </svg>`;
  return figure({
    title: text("floor.tuner.stretches.title"),
    name,
    chart,
    note: html`${switched}${root ? html`<p class="muted small">${text("floor.tuner.root")}</p>` : nothing}`,
    rows: lengths.histogram,
    columns: [
      { label: text("floor.tuner.length"), text: nameOf },
      { label: text("floor.tuner.stretches"), numeric: true, text: (b) => b.count },
      { label: text("floor.tuner.minutes"), numeric: true, text: (b) => Math.round(b.totalMs / 6000) / 10 },
    ],
  });
}

// uneven tells whether one column would leave nothing to see of the others.
function uneven(values) {
  const some = values.filter((v) => v > 0).sort((a, b) => a - b);
  return some.length > 2 && some.at(-1) > 30 * some[some.length >> 1];
}

const short = (ms) => {
  if (ms < 60_000) return text("floor.tuner.seconds", { n: ms / 1000 });
  return ms < 3_600_000
    ? text("floor.tuner.minutes.short", { n: ms / 60_000 })
    : text("floor.tuner.hours", { n: ms / 3_600_000 });
};
const hoursOf = (ms) =>
  ms < 3_600_000
    ? text("floor.tuner.minutes.short", { n: Math.round(ms / 60_000) })
    : text("floor.tuner.hours", { n: Math.round(ms / 360_000) / 10 });

function shown(bins, marks) {
  const used = bins
    .map((b, i) => (b.count > 0 || marks.some((m) => m.ms >= b.fromMs && (b.toMs === null || m.ms < b.toMs)) ? i : -1))
    .filter((i) => i >= 0);
  if (!used.length) return bins.slice(4, 20);
  return bins.slice(Math.max(0, used[0] - 1), Math.min(bins.length, used.at(-1) + 2));
}

// Where a length lies, in columns from the left; within one by its logarithm.
function place(bins, ms) {
  const i = bins.findIndex((b) => ms >= b.fromMs && (b.toMs === null || ms < b.toMs));
  if (i < 0) return ms < bins[0].fromMs ? 0 : bins.length;
  const from = Math.max(bins[i].fromMs, 250),
    to = bins[i].toMs ?? from * 2;
  return i + Math.min(1, Math.max(0, Math.log(Math.max(ms, from) / from) / Math.log(to / from)));
}
