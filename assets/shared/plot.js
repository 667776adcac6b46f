// Charts over time by uPlot, in our colours, as wide as their place, light or dark, with their numbers as a table and as CSV.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { AsyncDirective } from "../vendor/lit-html/async-directive.js";
import { directive } from "../vendor/lit-html/directive.js";
import { harmless, writeTable } from "./csv.js";
import { number, time } from "./format.js";
import { style } from "./styles.js";
import { text } from "./words.js";

const library = new URL("../vendor/uplot/dist/uPlot.esm.js", import.meta.url);
let uPlot = null;

/** load gets the library and its style sheet; charts wait for it by themselves. */
export const load = async () => {
  const [module] = await Promise.all([
    import(library),
    style(new URL("../vendor/uplot/dist/uPlot.min.css", import.meta.url)),
  ]);
  return (uPlot = module.default);
};

/** color reads a colour variable of the page ("productive" is --productive). */
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/**
 * plot draws series over time into the element that it stands in: plot({data, series, options}). data is as uPlot takes it,
 * moments in ms first; series are [{label, color (the name of a variable), width, step, points, value(n)}]; options are more
 * of uPlot's. What is given anew is drawn anew, and the same data is not. label(at) names the moments of the data, where these
 * are days or longer. zone is the plant's time zone; zoom(from, to) is told in ms. x: [from, to] is the time that is shown, where
 * it is not that of the data.
 */
class Plot extends AsyncDirective {
  update(part, [given]) {
    this.given = given;
    if (part.element !== this.box) {
      this.box = part.element;
      this.observe();
    }
    if (uPlot) this.draw();
    else
      load()
        .then(() => this.isConnected && this.draw())
        .catch((error) => console.error(error));
    return nothing;
  }

  observe() {
    this.sizes = new ResizeObserver(() =>
      this.chart?.setSize({ width: this.box.clientWidth, height: this.given.height ?? 220 }),
    );
    this.sizes.observe(this.box);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.paper = matchMedia("print");
    this.again = () => {
      this.destroy();
      this.draw();
    };
    for (const media of [this.scheme, this.paper]) media.addEventListener("change", this.again);
  }

  draw() {
    const { data, series, zone, x, label, height } = this.given;
    const shape = JSON.stringify([Boolean(label), height, series.map((s) => [s.label, s.color])]); // what else changes is looked up when it is drawn
    if (this.chart && this.shape === shape && this.zone === zone) {
      if (this.data !== data) this.chart.setData(data, !x);
      else if (!x || (x[0] === this.x[0] && x[1] === this.x[1])) return;
    } else {
      this.destroy();
      Object.assign(this, { shape, zone, chart: new uPlot(this.settings(), data, this.box) });
    }
    Object.assign(this, { data, x });
    if (x) this.chart.setScale("x", { min: x[0], max: x[1] });
  }

  settings() {
    const { series, height = 220, zone = "UTC", zoom, label, options = {} } = this.given,
      given = () => this.given;
    const ink = color("muted"),
      line = color("line");
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    return {
      width: this.box.clientWidth || 600,
      height,
      ms: 1,
      tzDate: (at) => uPlot.tzDate(new Date(at), zone),
      cursor: { drag: { setScale: !zoom, x: true, y: false }, ...options.cursor },
      series: [
        {
          value: (_, at) =>
            at === null ? "–" : label ? given().label(at) : time(at, { zone, date: false, seconds: true }),
        },
        ...series.map((s, i) => ({
          label: s.label,
          stroke: color(s.color),
          width: s.width ?? 1.6,
          points: { show: Boolean(s.points) },
          scale: s.scale ?? "y",
          spanGaps: false,
          dash: s.dash,
          fill: s.fill ? color(s.color) + "33" : undefined,
          paths: s.step ? uPlot.paths.stepped({ align: 1 }) : undefined,
          value: (_, n) => (n === null || n === undefined ? "–" : (given().series[i].value ?? number)(n)),
        })),
      ],
      axes: [
        {
          ...axis,
          ...(label
            ? { splits: (u) => some(u.data[0], u.width / 90), values: (_, moments) => moments.map(given().label) }
            : { values: (_, moments, __, ___, step) => clock(moments, step, zone) }),
        },
        { ...axis, size: 56, values: (_, all) => all.map((n) => number(n)) },
        ...(options.axes ?? []).map((a) => ({ ...axis, ...a })),
      ],
      scales: {
        x: { time: true },
        y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(high || 1, 1e-9) * 1.05] },
        ...options.scales,
      },
      hooks: {
        ...options.hooks,
        setSelect: zoom
          ? [
              (u) => {
                if (u.select.width > 4)
                  given().zoom(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
                u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
              },
            ]
          : [],
      },
      padding: options.padding,
      plugins: options.plugins ?? [],
      legend: {
        live: true,
        markers: {
          width: (_, i) => Math.max(1, series[i - 1].width ?? 1.6),
          dash: (_, i) => lineOf(series[i - 1].dash),
        },
        ...options.legend,
      },
    };
  }

  destroy() {
    this.chart?.destroy();
    this.chart = null;
  }

  disconnected() {
    this.sizes?.disconnect();
    for (const media of [this.scheme, this.paper]) media?.removeEventListener("change", this.again);
    this.destroy();
  }

  reconnected() {
    this.observe();
    if (uPlot) this.draw();
  }
}

// lineOf names a line's dashes as borders do, so that lines are told apart without colour.
const lineOf = (dash) => (!dash ? "solid" : dash[0] < 4 ? "dotted" : "dashed");

// some gives so many of the moments at most, evenly.
const some = (moments, most) => moments.filter((_, i) => i % Math.max(1, Math.ceil(moments.length / most)) === 0);

// clock labels moments: hours within days, and the day where it is a new one. step is what lies between two, ms.
function clock(moments, step, zone) {
  let before = "";
  return moments.map((at) => {
    const [date, hour] = time(at, { zone }).split(", "),
      day = date.replace(/ \d{4}$/, "");
    const label = step >= 86400000 ? day : day === before ? hour : `${hour}\n${day}`;
    before = day;
    return label;
  });
}

export const plot = directive(Plot);

/**
 * figure frames a chart: its title, the chart, its numbers as a table that can be opened, and as CSV. columns are [{label,
 * text(row), numeric}] of rows; name is that of the file. cell(row) is what the table shows, where that is not what the file has,
 * fileUnit the unit there; file are the file's columns where it has others.
 */
export const figure = ({
  title,
  chart,
  columns,
  rows,
  name,
  file = columns,
  note = nothing,
}) => html`<figure class="card figure-card">
  <figcaption class="spread"><h2>${title}</h2><button type="button" class="button small" @click=${() => saveTable(name, file, rows)}>${text("shared.plot.csv")}</button></figcaption>
  ${note}${chart}
  <details class="numbers"><summary>${text("shared.rows.table")}</summary>${whenOpen(
    () => html`<div class="table-wrap" tabindex="0" role="region" aria-label=${title}><table class="table"><thead><tr>${columns.map((c) => html`<th scope="col" class=${c.numeric ? "numeric" : ""}>${c.label}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${columns.map((c) => html`<td class=${c.numeric ? "numeric" : ""}><span dir="auto">${shown(c, row)}</span></td>`)}</tr>`)}</tbody></table></div>`,
    rows.length <= small,
  )}</details></figure>`;

const small = 200; // rows of a table that is made before anybody opens it

// whenOpen gives a template of what stands in details when they are open: a long table costs more than its chart.
class WhenOpen extends AsyncDirective {
  update(part, [template, always]) {
    this.template = template;
    if (!this.details) {
      this.details = part.parentNode;
      this.details.addEventListener(
        "toggle",
        () => this.isConnected && this.setValue(this.details.open || this.always ? this.template() : nothing),
      );
    }
    this.always = always;
    return always || this.details.open ? template() : nothing;
  }
}

/** whenOpen(template, always) stands in details and makes what they hold when they are opened. */
export const whenOpen = directive(WhenOpen);

const shown = (column, row) => {
  if (column.cell) return column.cell(row);
  const value = column.text(row);
  return value === null || value === undefined
    ? "–"
    : column.numeric && typeof value === "number"
      ? number(value)
      : value;
};

/** saveTable gives rows to the person as a CSV file. */
export function saveTable(name, columns, rows) {
  const cell = (value) => harmless(value === null || value === undefined ? "" : String(value));
  saveText(
    `${name}.csv`,
    writeTable([
      columns.map((c) => (c.fileUnit ? `${c.label} (${c.fileUnit})` : c.label)),
      ...rows.map((row) => columns.map((c) => cell(c.text(row)))),
    ]),
    "text/csv",
  );
}

/** saveText gives a text to the person as a file. */
export function saveText(name, text, kind) {
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(new Blob([text], { type: kind })),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
