// Mouse, pen and finger on the chart: a bar is dragged with the mouse at once, with a finger after a long press, so that a
// finger scrolls otherwise. Near the chart's edges it scrolls along.

import { toast } from "../../shared/dialog.js";

const minute = 60000;
const step = 5 * minute; // ms to which places snap; Alt lets them free
const slack = 4,
  long = 420,
  rim = 9,
  wideRim = 22; // pixels, ms, pixels at a bar's end that resize it

const snap = (at, free) => (free ? Math.round(at / 1000) * 1000 : Math.round(at / step) * step);

/**
 * dragging lets bars of a chart be dragged into carry. allowed() tells whether the person may; open(schedule) is called for a
 * click that was no drag, plan(code, at) for a double click on free time.
 */
export function dragging(chart, carry, { allowed, open, plan }) {
  const box = chart.element;
  let hold = null; // {s, mode, x, y, grab: ms from the schedule's begin to where it was taken, pointer}
  let frame = 0,
    last = null,
    quiet = 0;

  const contentAt = (event) => {
    const { left, top } = hold.rect;
    return {
      x: event.clientX - left - hold.names + box.scrollLeft,
      y: event.clientY - top - hold.axis + box.scrollTop,
    };
  };

  function begin() {
    const { s, mode } = hold,
      why = carry.can(s, mode);
    clearTimeout(hold.timer);
    if (why) {
      hold.why = why;
      return;
    }
    hold.live = true;
    carry.begin(s, mode);
    const { origin } = carry.now,
      at = contentAt(hold.event);
    hold.grab = chart.timeOf(at.x) - (mode === "resize" ? origin.to : origin.from);
    hold.length = origin.to - origin.from;
    if (hold.touch && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(15);
  }

  function place() {
    frame = 0;
    if (!hold?.live || !carry.now || carry.now.dropping) return;
    scrollAlong();
    const { x, y } = contentAt(last),
      { origin } = carry.now,
      at = chart.timeOf(x) - hold.grab;
    if (hold.mode === "resize") {
      carry.to({ code: origin.code, from: origin.from, to: Math.max(origin.from + minute, snap(at, last.altKey)) });
    } else {
      const row = chart.rowAt(y),
        from = snap(at, last.altKey);
      carry.to({ code: row.code ?? carry.now.place.code, from, to: from + hold.length });
    }
    carry.draw();
  }

  function scrollAlong() {
    const { rect } = hold,
      near = 44;
    const pull = (at, low, high) => (at < low + near ? at - low - near : at > high - near ? at - high + near : 0);
    const dx = pull(last.clientX, rect.left + hold.names, rect.right),
      dy = pull(last.clientY, rect.top + hold.axis, rect.bottom);
    if (!dx && !dy) return;
    box.scrollLeft += dx / 4;
    if (hold.mode === "move") box.scrollTop += dy / 4;
    frame ||= requestAnimationFrame(place);
  }

  box.addEventListener("pointerdown", (event) => {
    const bar = event.target.closest(".slot");
    if (!bar || event.button !== 0 || hold || carry.now?.dropping || !allowed()) return;
    const s = chart.plan.schedules.get(bar.dataset.id),
      touch = event.pointerType === "touch",
      around = bar.getBoundingClientRect();
    if (!s) return;
    carry.cancel();
    const edge = around.width > 3 * rim && around.right - event.clientX < (touch ? wideRim : rim);
    hold = {
      s,
      touch,
      event,
      pointer: event.pointerId,
      x: event.clientX,
      y: event.clientY,
      mode: edge ? "resize" : "move",
      rect: box.getBoundingClientRect(),
      names: chart.namesWidth,
      axis: chart.axis.offsetHeight,
    };
    last = event;
    if (touch) hold.timer = setTimeout(() => hold && !hold.live && begin(), long);
  });

  addEventListener("pointermove", move);
  function move(event) {
    if (!hold || event.pointerId !== hold.pointer) return;
    last = event;
    const far = Math.hypot(event.clientX - hold.x, event.clientY - hold.y) > (hold.touch ? 2 * slack : slack);
    if (!hold.live && far) {
      if (hold.touch) return drop(); // it scrolls
      if (!hold.why) begin();
      if (hold.why) box.classList.add("cannot");
    }
    if (hold?.live) frame ||= requestAnimationFrame(place);
  }

  function drop() {
    clearTimeout(hold?.timer);
    hold = null;
    box.classList.remove("cannot");
  }

  addEventListener("pointerup", up);
  function up(event) {
    if (!hold || event.pointerId !== hold.pointer) return;
    const { live, why } = hold;
    last = event;
    if (live) {
      cancelAnimationFrame(frame);
      place();
      quiet = performance.now();
    }
    if (why) toast(`${why}.`);
    const dragged = live || why;
    drop();
    if (dragged) quiet = performance.now();
    if (live) carry.drop();
  }

  addEventListener("pointercancel", cancel);
  function cancel(event) {
    if (hold?.pointer !== event.pointerId) return;
    if (hold.live) carry.cancel();
    drop();
  }

  addEventListener("keydown", escape, true);
  function escape(event) {
    if (event.key !== "Escape" || !hold?.live) return;
    event.stopPropagation();
    carry.cancel();
    drop();
    quiet = performance.now();
  }

  const touched = (event) => {
    if (hold?.live) event.preventDefault();
  }; // a finger that carries does not scroll
  box.addEventListener("touchmove", touched, { passive: false });
  box.addEventListener("contextmenu", (event) => {
    if (hold?.touch) event.preventDefault();
  });
  box.addEventListener("click", (event) => {
    const bar = event.target.closest(".slot");
    if (!bar || performance.now() - quiet < 60) return;
    open(chart.plan.schedules.get(bar.dataset.id));
  });
  box.addEventListener("dblclick", (event) => {
    const row = event.target.closest(".gantt-row[data-station]");
    if (!row || event.target.closest(".slot, .gantt-name") || !allowed()) return;
    const at = chart.timeOf(event.clientX - box.getBoundingClientRect().left - chart.namesWidth + box.scrollLeft);
    plan(row.dataset.station, snap(at, event.altKey));
  });
  box.addEventListener("pointermove", (event) => {
    // the end of a bar shows that it can be drawn
    if (hold || event.pointerType !== "mouse") return;
    const bar = event.target.closest(".slot");
    if (bar)
      bar.classList.toggle(
        "at-end",
        allowed() && bar.width > 3 * rim && bar.getBoundingClientRect().right - event.clientX < rim,
      );
  });
  return () => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
    removeEventListener("pointercancel", cancel);
    removeEventListener("keydown", escape, true);
    drop();
  };
}
