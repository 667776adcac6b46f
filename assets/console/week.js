// A week of shifts as a chart that is edited by dragging, by touch and by keyboard.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { Directive, directive } from "../vendor/lit-html/directive.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { duration, hours, weekDays } from "../shared/format.js";

/** Dragging and the arrow keys move by a quarter of an hour. */
const step = 0.25;

const snap = (h) => Math.round(h / step) * step;
const clamp = (h, from, to) => Math.min(to, Math.max(from, h));

// The policy forbids style attributes in markup, so places are set by script.
class Place extends Directive {
  update({ element }, [left, width]) {
    element.style.insetInlineStart = `${left}%`;
    element.style.inlineSize = `${width}%`;
    return nothing;
  }
  render() {
    return nothing;
  }
}
const place = directive(Place);

/**
 * week draws shifts [{name, startHour, duration, weekDay}] on seven days. A shift over midnight goes on in the next day's row.
 * change(i, shift) is called with the shift at i changed, add(shift) with a new one (a double click or Enter on a day), open(i)
 * when one is chosen; without change nothing can be moved.
 */
export function week({ shifts, change, add, open, chosen }) {
  const names = [...new Set(shifts.map((s) => s.name))];
  return html`<div class="week" role="group" aria-label="Shifts of the week">
    <div class="week-hours" aria-hidden="true">${[0, 3, 6, 9, 12, 15, 18, 21].map((h) => html`<span ${place((h / 24) * 100, 12.5)}>${hours(h)}</span>`)}</div>
    ${weekDays.map(
      (
        name,
        day,
      ) => html`<div class="week-day"><span class="week-name">${name.slice(0, 3)}<span class="visually-hidden">${name.slice(3)}</span></span>
      <div class="week-line" data-day=${day} @dblclick=${(e) => add?.(newShift(e, day))}>
        ${repeat(
          partsOf(shifts, day),
          (p) => `${p.i} ${p.carried}`,
          (p) => part(p, shifts, names, { change, open, chosen }),
        )}
      </div>
      ${add ? html`<button type="button" class="icon-button" aria-label=${`Add a shift on ${name}`} @click=${() => add({ name: names[0] ?? "Shift", startHour: 8, duration: 8, weekDay: String(day + 1) })}>+</button>` : nothing}
    </div>`,
    )}
  </div>`;
}

// What of the shifts is seen in the row of a day (0 is Monday): those that start in it, and what the day before carries over.
function partsOf(shifts, day) {
  return shifts.flatMap((s, i) => {
    const start = Number(s.weekDay) - 1,
      over = s.startHour + s.duration - 24,
      parts = [];
    if (start === day) parts.push({ i, carried: false, from: s.startHour, to: Math.min(24, s.startHour + s.duration) });
    if (over > 0 && (start + 1) % 7 === day) parts.push({ i, carried: true, from: 0, to: over });
    return parts;
  });
}

function part({ i, carried, from, to }, shifts, names, { change, open, chosen }) {
  const s = shifts[i],
    text = `${s.name}, ${weekDays[Number(s.weekDay) - 1]} ${hours(s.startHour)} to ${hours((s.startHour + s.duration) % 24)}, ${duration(Math.round(s.duration * 3600000))}`;
  return html`<div class=${`shift tone-${names.indexOf(s.name) % 6} ${carried ? "carried" : ""} ${chosen === i ? "chosen" : ""}`} ${place((from / 24) * 100, ((to - from) / 24) * 100)}
      tabindex=${carried ? nothing : 0} role=${carried ? nothing : "button"} aria-label=${carried ? nothing : text} aria-hidden=${carried ? "true" : nothing} title=${text} data-shift=${carried ? nothing : i}
      @click=${() => open?.(i)} @dblclick=${(e) => e.stopPropagation()} @keydown=${(e) => keys(e, i, s, change, open)} @pointerdown=${(
        e,
      ) => {
        if (change && !carried) drag(e, i, s, change);
      }}>
    <span dir="auto">${s.name}</span>${change && !carried ? html`<i class="handle" data-edge="end"></i>` : nothing}</div>`;
}

function newShift(event, day) {
  const line = event.currentTarget.getBoundingClientRect();
  const at = snap(((event.clientX - line.left) / line.width) * 24);
  return { name: "Shift", startHour: clamp(at, 0, 24 - step), duration: 8, weekDay: String(day + 1) };
}

function keys(event, i, s, change, open) {
  const move = { ArrowLeft: -step, ArrowRight: step }[event.key],
    day = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    open?.(i);
  } else if (change && (move || day)) {
    event.preventDefault();
    const week = event.currentTarget.closest(".week"); // another day is another row: the focus goes there with the shift
    queueMicrotask(() => queueMicrotask(() => week.querySelector(`[data-shift="${i}"]`)?.focus()));
    if (day) change(i, { ...s, weekDay: String(((Number(s.weekDay) - 1 + day + 7) % 7) + 1) });
    else if (event.shiftKey) change(i, { ...s, duration: clamp(s.duration + move, step, 24) });
    else change(i, { ...s, startHour: clamp(s.startHour + move, 0, 24 - step) });
  }
}

// Until it is let go the shift is only drawn elsewhere; then it is changed, once.
function drag(event, i, s, change) {
  if (event.button !== 0) return;
  const box = event.currentTarget,
    resize = event.target.dataset.edge === "end",
    line = box.parentElement.getBoundingClientRect();
  const lines = [...box.closest(".week").querySelectorAll(".week-line")];
  let next = s;
  box.setPointerCapture(event.pointerId);
  const moved = (e) => {
    const by = snap(((e.clientX - event.clientX) / line.width) * 24);
    if (resize) next = { ...s, duration: clamp(s.duration + by, step, 24) };
    else {
      const over = lines.find((l) => {
        const r = l.getBoundingClientRect();
        return e.clientY >= r.top && e.clientY < r.bottom;
      });
      next = {
        ...s,
        startHour: clamp(s.startHour + by, 0, 24 - step),
        weekDay: over ? String(Number(over.dataset.day) + 1) : s.weekDay,
      };
      box.style.translate = `0 ${over ? over.getBoundingClientRect().top - line.top : 0}px`;
    }
    box.style.insetInlineStart = `${(next.startHour / 24) * 100}%`;
    box.style.inlineSize = `${(Math.min(next.duration, 24 - next.startHour) / 24) * 100}%`;
    box.classList.add("dragged");
  };
  const done = (e) => {
    box.removeEventListener("pointermove", moved);
    box.removeEventListener("pointerup", done);
    box.removeEventListener("pointercancel", done);
    box.classList.remove("dragged");
    box.style.translate = "";
    const shown = e.type === "pointerup" ? next : s;
    box.style.insetInlineStart = `${(shown.startHour / 24) * 100}%`;
    box.style.inlineSize = `${(Math.min(shown.duration, 24 - shown.startHour) / 24) * 100}%`;
    if (
      shown !== s &&
      (shown.startHour !== s.startHour || shown.duration !== s.duration || shown.weekDay !== s.weekDay)
    )
      change(i, shown);
  };
  box.addEventListener("pointermove", moved);
  box.addEventListener("pointerup", done);
  box.addEventListener("pointercancel", done);
}
