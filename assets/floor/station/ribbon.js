// The ribbon: a station's time on a canvas, with its shifts above, and its schedules and stops below it. It is drawn anew
// for each step of a zoom, so it draws rectangles and little else.

import { color } from "../../shared/plot.js";
import { classes } from "../../shared/status.js";
import { text } from "../../shared/words.js";
import { ticks } from "./ticks.js";

/** left and right are what the ribbon and the charts below leave free at their sides, CSS px, so that moments stand above each other. */
export const left = 56,
  right = 20;

/** lanes are where things stand, CSS px from the top: [top, height]. */
export const lanes = { shift: [0, 18], time: [20, 52], plan: [76, 24], stops: [104, 24], axis: [130, 30] };

/** height is that of the ribbon, CSS px. */
export const height = 162;

/** kinds are what the ribbon shows, in the order in which shares of time are stacked, with label, colour, pattern and letter. */
export const kinds = {
  productive: {
    label: text("floor.station.kind.productive"),
    color: "productive",
    pattern: "",
    letter: text("floor.station.letter.productive"),
  },
  slow: {
    label: text("floor.station.kind.slow"),
    color: "slow",
    pattern: "dots",
    letter: text("floor.station.letter.slow"),
  },
  nonProduction: {
    label: text("floor.station.kind.nonProduction"),
    color: "nonproduction",
    pattern: "upright",
    letter: text("floor.station.letter.nonProduction"),
  },
  idle: { label: classes.idle.label, color: "idle", pattern: "lines", letter: text("floor.station.letter.idle") },
  downtime: {
    label: text("floor.station.kind.downtime"),
    color: "stop",
    pattern: "hatch",
    letter: text("floor.station.letter.downtime"),
  },
  noData: { label: text("floor.station.kind.noData"), color: "nodata", pattern: "cross", letter: "?" },
  outOfShift: {
    label: text("floor.station.kind.outOfShift"),
    color: "out",
    pattern: "sparse",
    letter: text("floor.station.letter.outOfShift"),
  },
};

/** kindOf gives the kind of a stretch of a timeline. */
export const kindOf = (run) =>
  run.scheduled === "nonProduction" && (run.class === "productive" || run.class === "idle")
    ? "nonProduction"
    : run.class;

/** shareOf gives how many ms of a timeline's row are of a kind. */
export function shareOf(timeline, kind, i) {
  const { classes: all, scheduledNonProduction: paused } = timeline;
  if (kind === "nonProduction") return paused.productive[i] + paused.idle[i];
  return all[kind][i] - (kind === "productive" || kind === "idle" ? paused[kind][i] : 0);
}

/** Ribbon draws on a canvas. */
export class Ribbon {
  #canvas;
  #paints = null;

  constructor(canvas) {
    this.#canvas = canvas;
  }

  /** fade forgets the colours: the page is dark now, or light. */
  fade() {
    this.#paints = null;
  }

  /** x gives where a moment stands, CSS px, and at which moment stands at a place. */
  x(at) {
    return left + ((at - this.from) / (this.to - this.from)) * (this.width - left - right);
  }
  at(x) {
    return this.from + ((x - left) / (this.width - left - right)) * (this.to - this.from);
  }

  /**
   * draw draws a timeline. view: {from, to, now} ms, zone, skuName(code), reasonName(code); stops are those that are not in
   * the timeline's runs: [{start, end, cause}].
   */
  draw({ timeline, from, to, now, zone, skuName, reasonName, stops }) {
    const canvas = this.#canvas,
      ratio = devicePixelRatio || 1,
      width = canvas.clientWidth || 800;
    Object.assign(this, { from, to, width });
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))
      Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const context = (this.context = canvas.getContext("2d"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    this.ratio = ratio;
    this.#paints ??= paintsOf(context, ratio);
    this.#ground(now);
    context.save();
    context.beginPath();
    context.rect(left * ratio, 0, (width - left - right) * ratio, canvas.height);
    context.clip();
    if (timeline?.runs) this.#runs(timeline.runs);
    else if (timeline) this.#rows(timeline);
    if (timeline?.schedules) this.#plan(timeline.schedules, skuName, reasonName);
    this.#stops(stops, reasonName);
    context.restore();
    this.#axis(zone);
  }

  // box fills from one moment to another in a lane, in device pixels, and at least one wide.
  #box(paint, start, end, top, tall) {
    const { context, ratio } = this,
      x = Math.round(this.x(start) * ratio);
    context.fillStyle = paint;
    context.fillRect(
      x,
      Math.round(top * ratio),
      Math.max(1, Math.round(this.x(end) * ratio) - x),
      Math.round(tall * ratio),
    );
  }

  #ground(now) {
    const p = this.#paints;
    for (const lane of ["time", "plan", "stops"]) this.#box(p.sunken, this.from, this.to, ...lanes[lane]);
    this.#text(text("floor.station.lane.shift"), 0, lanes.shift, p.muted);
    this.#text(text("floor.station.lane.time"), 0, lanes.time, p.muted);
    this.#text(text("floor.station.lane.plan"), 0, lanes.plan, p.muted);
    this.#text(text("floor.station.lane.stops"), 0, lanes.stops, p.muted);
    if (now > this.from && now < this.to) this.#box(p.surface, now, this.to, ...lanes.time); // what is to come
  }

  #runs(runs) {
    const [top, tall] = lanes.time,
      p = this.#paints;
    const some = runs.filter((run) => run.end > this.from && run.start < this.to);
    for (const run of some) this.#box(p[kindOf(run)], run.start, run.end, top, tall);
    for (const run of some) if (run.class === "downtime") this.#box(p.downtime, run.start, run.end, top, tall); // a short one is not lost below its neighbour
    for (const run of some) this.#letter(kindOf(run), Math.max(run.start, this.from), Math.min(run.end, this.to));
  }

  // rows are drawn as shares of their time, from below in the order of kinds.
  #rows(timeline) {
    const { from, stepMs, rows, to } = timeline,
      [top, tall] = lanes.time,
      names = Object.keys(kinds),
      p = this.#paints;
    const first = Math.max(0, Math.floor((this.from - from) / stepMs)),
      last = Math.min(rows, Math.ceil((this.to - from) / stepMs));
    for (let i = first; i < last; i++) {
      const start = from + i * stepMs,
        end = Math.min(to, start + stepMs);
      let below = top + tall;
      for (const name of names) {
        const share = (shareOf(timeline, name, i) / (end - start)) * tall;
        if (share <= 0) continue;
        this.#box(p[name], start, end, below - share, share + 0.5);
        below -= share;
      }
    }
  }

  // plan draws the shifts' names, and schedules: each stretch of one.
  #plan(spells, skuName, reasonName) {
    const p = this.#paints,
      [top, tall] = lanes.plan;
    for (const shift of joined(spells, (s) => s.shiftName)) {
      if (shift.end <= this.from || shift.start >= this.to || !shift.shiftName) continue;
      this.#box(p.line, shift.start, shift.start + (this.to - this.from) / this.width, lanes.shift[0], lanes.shift[1]);
      this.#label(shift.shiftName, shift, lanes.shift, p.muted);
    }
    for (const spell of plans(spells)) {
      if (spell.end <= this.from || spell.start >= this.to) continue;
      this.#box(spell.nonProductionScheduleId ? p.nonProduction : p.plan, spell.start, spell.end, top, tall);
      this.#box(p.surface, spell.end - (this.to - this.from) / this.width, spell.end, top, tall);
      this.#label(
        spell.nonProductionScheduleId ? reasonName(spell.reasonCode) : skuName(spell.skuCode),
        spell,
        lanes.plan,
        spell.nonProductionScheduleId ? p.onColor : p.ink,
        spell.nonProductionScheduleId ? p.nonproduction : null,
      );
    }
  }

  #stops(stops, reasonName) {
    const p = this.#paints;
    for (const stop of stops) {
      if (stop.end <= this.from || stop.start >= this.to) continue;
      this.#box(stop.cause ? p.stop : p.downtime, stop.start, stop.end, ...lanes.stops);
      this.#label(
        stop.cause ? reasonName(stop.cause) : text("floor.station.lane.uncaused"),
        stop,
        lanes.stops,
        p.onColor,
        p.stop,
      );
    }
  }

  #letter(kind, start, end) {
    const x0 = this.x(start),
      x1 = this.x(end);
    if (x1 - x0 < 22) return;
    const p = this.#paints,
      text = x1 - x0 > 130 ? kinds[kind].label : kinds[kind].letter;
    this.#badge(
      text,
      x0 + 5,
      lanes.time,
      kind === "outOfShift" ? p.ink : p.onColor,
      kind === "outOfShift" ? p.sunken : p[kinds[kind].color],
    );
  }

  // label writes a text within a stretch, where there is room for some of it.
  #label(text, { start, end }, lane, ink, ground = null) {
    const x0 = Math.max(left, this.x(start)),
      room = Math.min(this.width - right, this.x(end)) - x0 - 8;
    if (room < 18) return;
    const { context, ratio } = this;
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    const shown = fitted(context, text ?? "", room * ratio);
    if (shown) this.#badge(shown, x0 + 4, lane, ink, ground);
  }

  #badge(text, x, lane, ink, ground) {
    const { context, ratio } = this;
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    if (ground) {
      context.fillStyle = ground;
      context.fillRect(
        (x - 2) * ratio,
        (lane[0] + lane[1] / 2 - 8) * ratio,
        context.measureText(text).width + 4 * ratio,
        16 * ratio,
      );
    }
    this.#text(text, x, lane, ink);
  }

  #text(text, x, [top, tall], ink) {
    const { context, ratio } = this;
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    Object.assign(context, { fillStyle: ink, textBaseline: "middle", textAlign: "left" });
    context.fillText(text, x * ratio, (top + tall / 2) * ratio);
  }

  #axis(zone) {
    const { context, ratio } = this,
      [top] = lanes.axis,
      p = this.#paints;
    for (const tick of ticks(this.from, this.to, this.width / 90, zone)) {
      this.#box(p.line, tick.at, tick.at, top - 2, 5);
      context.font = `${12 * ratio}px system-ui, sans-serif`;
      Object.assign(context, { fillStyle: p.muted, textBaseline: "top", textAlign: "center" });
      context.fillText(tick.text, this.x(tick.at) * ratio, (top + 4) * ratio);
      if (tick.day) context.fillText(tick.day, this.x(tick.at) * ratio, (top + 17) * ratio);
    }
  }
}

/** joined makes one of stretches that follow each other and are the same. */
function joined(list, same) {
  const out = [];
  for (const item of list) {
    const before = out[out.length - 1];
    if (before && before.end === item.start && same(before) === same(item)) before.end = item.end;
    else out.push({ ...item });
  }
  return out;
}

/** plans gives the stretches in which a schedule ran. */
export const plans = (spells) =>
  joined(
    spells.filter((s) => s.scheduleId || s.nonProductionScheduleId),
    (s) => s.nonProductionScheduleId ?? s.scheduleId,
  );

function fitted(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  for (let n = Math.min(text.length, Math.floor(room / 5)); n > 1; n--)
    if (context.measureText(`${text.slice(0, n)}…`).width <= room) return `${text.slice(0, n)}…`;
  return "";
}

// paintsOf makes the fills: colours, and for the kinds colours with their pattern.
function paintsOf(context, ratio) {
  const paints = { plan: color("tint") };
  for (const name of [
    "surface",
    "sunken",
    "ink",
    "muted",
    "line",
    ...new Set(Object.values(kinds).map((k) => k.color)),
  ])
    paints[name] = color(name);
  paints.onColor = paints.surface;
  for (const [name, kind] of Object.entries(kinds))
    paints[name] = kind.pattern ? context.createPattern(tile(kind, paints, ratio), "repeat") : paints[kind.color];
  return paints;
}

// tile paints the pattern of a kind: so that print and eyes without colour tell them apart.
function tile({ pattern, color: name }, paints, ratio) {
  const size = Math.round(8 * ratio),
    canvas = Object.assign(document.createElement("canvas"), { width: size, height: size }),
    c = canvas.getContext("2d");
  const light = pattern === "sparse" || pattern === "cross";
  c.fillStyle = light ? paints.sunken : paints[name];
  c.fillRect(0, 0, size, size);
  Object.assign(c, {
    strokeStyle: light ? paints[name] : paints.surface,
    fillStyle: light ? paints[name] : paints.surface,
    lineWidth: ratio * 1.2,
    globalAlpha: light ? 0.75 : 0.55,
  });
  const stroke = (...lines) => {
    c.beginPath();
    for (const [a, b, d, e] of lines) {
      c.moveTo(a * size, b * size);
      c.lineTo(d * size, e * size);
    }
    c.stroke();
  };
  switch (pattern) {
    case "hatch":
      stroke([0, 1, 1, 0], [-0.5, 0.5, 0.5, -0.5], [0.5, 1.5, 1.5, 0.5]);
      break;
    case "cross":
      stroke([0, 0, 1, 1], [0, 1, 1, 0]);
      break;
    case "lines":
      stroke([0, 0.25, 1, 0.25], [0, 0.75, 1, 0.75]);
      break;
    case "upright":
      stroke([0.25, 0, 0.25, 1], [0.75, 0, 0.75, 1]);
      break;
    case "dots":
      for (const [x, y] of [
        [0.25, 0.25],
        [0.75, 0.75],
      ]) {
        c.beginPath();
        c.arc(x * size, y * size, size / 8, 0, 7);
        c.fill();
      }
      break;
    case "sparse":
      c.beginPath();
      c.arc(size / 2, size / 2, size / 10, 0, 7);
      c.fill();
      break;
    default:
      throw new Error(`there is no pattern ${pattern}`);
  }
  return canvas;
}
