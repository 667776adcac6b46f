// The floor: what every station does now, by plant and group. What is looked at stands in the address.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { directory, renamed } from "../../shared/directory.js";
import { segmented } from "../../shared/form.js";
import { live } from "../../shared/live.js";
import { addressOf, readScope, scopeBar } from "../../shared/scope.js";
import { statusOf } from "../../shared/status.js";
import { style } from "../../shared/styles.js";
import { text } from "../../shared/words.js";
import { Board } from "../floor/board.js";
import { countsBy, tally, troubles } from "../floor/facts.js";
import { Messages } from "../floor/messages.js";
import { everySecond } from "../floor/ticking.js";

const many = 40; // stations, from which on the dense view is the first one

export async function open(ctx) {
  const [names, unfollow] = await Promise.all([
    directory(),
    live.follow(),
    style(new URL("../floor.css", import.meta.url)),
  ]);
  const page = new Floor(ctx, names);
  const stations = (event) => {
    if (page.board.change(event.detail)) ctx.update();
  };
  const again = () => page.look(page.ctx);
  live.addEventListener("stations", stations);
  renamed.addEventListener("change", again);
  const stop = everySecond((at) => page.tick(at));
  return {
    title: text("floor.nav.floor"),
    render: () => page.render(),
    changed: (now) => page.look(now),
    leave: () => {
      live.removeEventListener("stations", stations);
      renamed.removeEventListener("change", again);
      stop();
      page.board.close();
      page.messages.close();
      unfollow();
    },
  };
}

class Floor {
  board = new Board(() => this.ctx.update());
  messages = new Messages(() => this.ctx.update());

  constructor(ctx, names) {
    this.names = names;
    this.look(ctx);
  }

  tick(at) {
    if (!live.oldSince()) this.board.tick(at); // what is not known does not go on
  }

  // look takes what the address asks for, and other names.
  look(ctx) {
    const { plant, group } = readScope(ctx.query);
    this.ctx = ctx;
    this.wanted = {
      plant,
      group,
      status: (ctx.query.get("status") ?? "").split(",").filter(Boolean),
      search: ctx.query.get("search") ?? "",
      sort: ctx.query.get("sort") ?? "",
      view: ctx.query.get("view") ?? "",
    };
    this.board.show(this.names, this.wanted);
    ctx.update();
  }

  // go changes the address; what is typed does not fill the history.
  go(changed, replace = false) {
    const { status, search, sort, view, ...scope } = { ...this.wanted, ...changed };
    this.ctx.navigate(addressOf(scope, { status, search, sort, view }), { replace });
  }

  get view() {
    return this.wanted.view || (live.stations.size > many ? "dense" : "large");
  }

  render() {
    const { wanted, names, board } = this;
    const wall = addressOf({ plant: wanted.plant, group: wanted.group }, {}, "/floor/wall");
    return html`<div class="page-head floor-head"><h1>${text("floor.nav.floor")}</h1><p class="tally" id="tally">${tally(board.scope)}</p>
        <div class="row">${segmented({
          name: "view",
          label: text("floor.floor.view"),
          value: this.view,
          options: [
            { value: "large", label: text("floor.floor.view.large") },
            { value: "dense", label: text("floor.floor.view.dense") },
          ],
          change: (view) => this.go({ view }, true),
        })}
        ${segmented({
          name: "order",
          label: text("floor.floor.sort"),
          value: wanted.sort,
          options: [
            { value: "", label: text("floor.floor.sort.group") },
            { value: "trouble", label: text("floor.floor.sort.trouble") },
          ],
          change: (sort) => this.go({ sort }, true),
        })}
        <a class="button" href=${wall}>${text("floor.nav.wall")}</a></div></div>
      <div class="floor-bar">${scopeBar({
        scope: { plant: wanted.plant, group: wanted.group },
        directory: names,
        parts: ["plant", "group"],
        change: ({ plant, group }) => this.go({ plant, group }),
        more: html`<label class="scope-part"><span>${text("floor.floor.search")}</span>
        <input type="search" placeholder=${text("floor.floor.search.hint")} .value=${wanted.search} @input=${(e) => this.go({ search: e.target.value }, true)}></label>`,
      })}
        ${this.chips()}</div>
      ${this.messages.list(board.scope, names)}
      <div class=${`floor-board ${this.view}${wanted.sort === "trouble" ? " by-trouble" : ""}`}>${board.element}</div>`;
  }

  // chips choose by status, and count it.
  chips() {
    const counts = countsBy(this.board.scope),
      chosen = this.wanted.status;
    const codes = [
      ...troubles.filter((code) => counts.has(code) || chosen.includes(code)),
      ...chosen.filter((code) => !troubles.includes(code)),
    ];
    const toggle = (code) =>
      this.go({ status: chosen.includes(code) ? chosen.filter((c) => c !== code) : [...chosen, code] });
    return html`<div class="status-chips" role="group" aria-label=${text("floor.floor.status")}>${codes.map((code) => {
      const { label, sign, color } = statusOf(code);
      return html`<button type="button" class=${`status-chip ${color}`} aria-pressed=${String(chosen.includes(code))} @click=${() => toggle(code)}><span class="sign" aria-hidden="true">${sign}</span> ${label} <b>${counts.get(code) ?? 0}</b></button>`;
    })}${chosen.length ? html`<button type="button" class="link" @click=${() => this.go({ status: [] })}>${text("floor.floor.status.all")}</button>` : nothing}</div>`;
  }
}
