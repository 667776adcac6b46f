// The ribbon in the page: it is drawn when there is something new, and a mouse, fingers and keys zoom and move it.

import { nothing } from "../../vendor/lit-html/lit-html.js";
import { AsyncDirective } from "../../vendor/lit-html/async-directive.js";
import { directive } from "../../vendor/lit-html/directive.js";
import { lanes, left, Ribbon, right } from "./ribbon.js";

/**
 * stage makes an element with a canvas, a .line and a .chosen in it the ribbon: stage({picture, cursor, actions}). picture is
 * what Ribbon.draw takes; it is drawn when it is another one. actions: zoom(factor, at), show(from, to, done) and pick(at, lane).
 */
class Stage extends AsyncDirective {
  fingers = new Map();

  update(part, [given]) {
    this.given = given;
    if (part.element !== this.box) {
      this.box = part.element;
      this.ribbon = new Ribbon(this.box.querySelector("canvas"));
      this.line = this.box.querySelector(".line");
      this.chosen = this.box.querySelector(".chosen");
      this.listen();
    }
    given.cursor.line = this.point;
    if (this.drawn !== given.picture) this.paint(given.picture);
    return nothing;
  }

  paint(picture = this.given.picture) {
    this.drawn = picture;
    this.ribbon.draw(picture);
    this.point(this.given.cursor.at);
    this.box.dataset.drawn = `${picture.from}/${picture.to}`;
  }

  listen() {
    const { box } = this;
    for (const [name, handler] of Object.entries({
      pointerdown: this.down,
      pointermove: this.over,
      pointerup: this.up,
      pointercancel: this.cancel,
      pointerleave: this.out,
    }))
      box.addEventListener(name, handler);
    box.addEventListener("wheel", this.wheel, { passive: false });
    this.observe();
  }

  observe() {
    this.sizes = new ResizeObserver(() => this.paint());
    this.sizes.observe(this.box);
    this.again = () => {
      this.ribbon.fade();
      this.paint();
    };
    this.media = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
    for (const media of this.media) media.addEventListener("change", this.again);
  }

  disconnected() {
    this.sizes?.disconnect();
    for (const media of this.media ?? []) media.removeEventListener("change", this.again);
  }

  reconnected() {
    this.observe();
  }

  place = (event) => {
    const box = this.box.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  inside = (x) => Math.min(this.ribbon.width - right, Math.max(left, x));

  down = (event) => {
    if (event.button !== 0) return;
    const at = this.place(event);
    this.fingers.set(event.pointerId, { start: at, at });
    this.begin = [...this.fingers.values()].map((f) => this.ribbon.at(f.at.x)); // the moments below the fingers
    this.view = [this.ribbon.from, this.ribbon.to];
    this.moved ||= this.fingers.size > 1;
    this.box.setPointerCapture(event.pointerId);
  };

  over = (event) => {
    const at = this.place(event),
      finger = this.fingers.get(event.pointerId);
    this.given.cursor.move(at.x < left || at.x > this.ribbon.width - right ? null : this.ribbon.at(at.x));
    if (!finger) return;
    finger.at = at;
    if (Math.abs(at.x - finger.start.x) > 4) this.moved = true;
    if (!this.moved) return;
    if (event.pointerType === "mouse") this.select(finger.start.x, at.x);
    else this.pull();
  };

  up = (event) => {
    const finger = this.fingers.get(event.pointerId);
    this.fingers.delete(event.pointerId);
    if (!finger || this.fingers.size) {
      this.begin = [...this.fingers.values()].map((f) => this.ribbon.at(f.at.x));
      return;
    }
    const { actions } = this.given,
      moved = this.moved;
    finger.at = this.place(event);
    this.moved = false;
    this.chosen.hidden = true;
    if (!moved) actions.pick(this.ribbon.at(this.inside(finger.at.x)), this.laneAt(finger.at.y));
    else if (event.pointerType === "mouse")
      actions.show(
        ...[finger.start.x, finger.at.x].map((x) => this.ribbon.at(this.inside(x))).sort((a, b) => a - b),
        true,
      );
    else actions.show(this.ribbon.from, this.ribbon.to, true);
  };

  cancel = (event) => {
    this.fingers.delete(event.pointerId);
    this.chosen.hidden = true;
    this.moved = false;
  };
  out = () => {
    if (!this.fingers.size) this.given.cursor.move(null);
  };

  // pull moves the time with one finger, and spreads it with two: each keeps its moment below it.
  pull() {
    const [a, b] = [...this.fingers.values()].map((f) => f.at.x),
      [first, second] = this.begin,
      room = this.ribbon.width - left - right;
    const scale =
      b === undefined || Math.abs(b - a) < 8 ? (this.ribbon.to - this.ribbon.from) / room : (second - first) / (b - a);
    if (!(scale > 0)) return;
    const from = first - (a - left) * scale;
    this.given.actions.show(from, from + scale * room, false);
  }

  select(a, b) {
    const [x0, x1] = [this.inside(Math.min(a, b)), this.inside(Math.max(a, b))];
    this.chosen.hidden = false;
    Object.assign(this.chosen.style, { left: `${x0}px`, width: `${x1 - x0}px` });
  }

  wheel = (event) => {
    if (event.altKey) return;
    event.preventDefault();
    const { actions } = this.given,
      at = this.ribbon.at(this.inside(this.place(event).x)),
      unit = event.deltaMode === 1 ? 16 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      const by = ((event.deltaX || event.deltaY) * unit * (this.ribbon.to - this.ribbon.from)) / this.ribbon.width;
      actions.show(this.ribbon.from + by, this.ribbon.to + by, false);
    } else
      actions.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY * unit)) * (event.ctrlKey ? 0.01 : 0.003)), at);
  };

  laneAt = (y) =>
    Object.keys(lanes).find((name) => y >= lanes[name][0] && y < lanes[name][0] + lanes[name][1]) ?? "time";

  point = (at) => {
    const shown = at !== null && at >= this.ribbon.from && at <= this.ribbon.to;
    this.line.hidden = !shown;
    if (shown) this.line.style.transform = `translateX(${this.ribbon.x(at)}px)`;
  };
}

export const stage = directive(Stage);
