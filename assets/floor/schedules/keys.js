// The chart by keyboard. A bar that has the focus is taken up by the first arrow key, put down by Enter and put back by Escape;
// nothing is written before.

import { toast } from "../../shared/dialog.js";
import { compare } from "../../shared/format.js";

const minute = 60000,
  hour = 60 * minute; // ms

/** keys lets a chart be used by keyboard. allowed() as for dragging; open(schedule), remove(schedule), plan(code, at) do it. */
export function keys(chart, carry, { allowed, open, remove, plan, say }) {
  const step = (event) =>
    event.altKey ? minute : chart.span > 60 * hour ? hour : chart.span > 12 * hour ? 15 * minute : 5 * minute;

  function take(s, mode) {
    if (carry.now?.s.id === s.id && carry.now.mode === mode) return true;
    if (carry.now) return false;
    const why = allowed() ? carry.can(s, mode) : "Your role sees schedules and does not change them";
    if (why) {
      toast(`${why}.`);
      return false;
    }
    carry.begin(s, mode);
    return true;
  }

  function move(event, s, mode, ms, rows) {
    if (!take(s, mode)) return;
    const { place } = carry.now;
    let { code, from, to } = place;
    if (mode === "resize") to = Math.max(from + minute, to + ms);
    else {
      [from, to] = [from + ms, to + ms];
      if (!event.altKey && ms) {
        const grid = Math.round(from / (5 * minute)) * 5 * minute - from;
        from += grid;
        to += grid;
      }
      if (rows) code = beside(code, rows);
    }
    carry.to({ code, from, to });
    follow();
    clearTimeout(keys.telling);
    keys.telling = setTimeout(() => carry.now && say(`${carry.told} Enter puts it down, Escape puts it back.`), 500);
  }

  const beside = (code, by) => {
    for (let i = chart.indexOf(code) + by; chart.rows[i]; i += by) if (chart.rows[i].code) return chart.rows[i].code;
    return code;
  };

  function follow() {
    // what is carried stays in view
    const { place } = carry.now,
      box = chart.element,
      top = chart.topOf(chart.indexOf(place.code)),
      x = chart.xOf(place.from);
    if (x < box.scrollLeft || x > box.scrollLeft + chart.width * 0.9) box.scrollLeft = x - chart.width / 4;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 150) box.scrollTop = top - box.clientHeight / 3;
    carry.draw();
  }

  // go leads to the bar before or after, or to the one nearest in time at the next station that has any.
  function go(s, by, rows) {
    const begin = (o) => o.actualStart ?? o.plannedStart;
    let next = null;
    if (rows) {
      for (let code = s.stationCode; !next; ) {
        const other = beside(code, rows);
        if (other === code) return;
        code = other;
        next = chart.plan.of(code).toSorted((a, b) => Math.abs(begin(a) - begin(s)) - Math.abs(begin(b) - begin(s)))[0];
      }
    } else {
      const line = chart.plan.of(s.stationCode).toSorted((a, b) => begin(a) - begin(b) || compare(a.id, b.id));
      next = line[line.indexOf(s) + by];
    }
    if (next) chart.reveal(next)?.focus({ preventScroll: true });
  }

  async function enter(s) {
    if (!carry.now) {
      // once the key is let go: in the dialog it would press what has the focus there
      addEventListener("keyup", () => open(s), { once: true });
      return;
    }
    const placed = await carry.drop();
    chart.reveal(placed ?? s)?.focus({ preventScroll: true });
  }

  chart.element.addEventListener("keydown", (event) => {
    const bar = event.target.closest(".slot"),
      s = bar && chart.plan.schedules.get(bar.dataset.id);
    if (!s) return;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (arrow && (event.ctrlKey || event.metaKey || !allowed())) {
      if (!carry.now) go(s, arrow[0], arrow[1]);
    } else if (arrow && event.shiftKey) {
      if (arrow[0]) move(event, s, "resize", arrow[0] * step(event), 0);
    } else if (arrow) move(event, s, "move", arrow[0] * step(event), arrow[1]);
    else if (event.key === "Enter" || event.key === " ") enter(s);
    else if (event.key === "Escape" && carry.now) {
      carry.cancel();
      say("Put back.");
      chart.reveal(s)?.focus({ preventScroll: true });
    } else if (event.key === "Delete" && !carry.now && allowed()) remove(s);
    else if (event.key === "Insert" && !carry.now && allowed()) plan(s.stationCode, s.expectedEnd ?? s.plannedStart);
    else return;
    event.preventDefault();
  });
  chart.element.addEventListener("focusout", (event) => {
    // who goes elsewhere has not put it down
    if (!carry.now || carry.now.dropping || event.relatedTarget === null || chart.element.contains(event.relatedTarget))
      return;
    carry.cancel();
    say("Put back.");
  });
}
