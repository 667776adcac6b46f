// The actions of a station, each with the words that stand for it. Every one asks who does it where nobody said yet.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { count, duration, number, time, units } from "../shared/format.js";
import { acts } from "./acts.js";
import { now } from "../shared/clock.js";
import { shown } from "./shown.js";
import { askReason, askText, keypad, reasonsOf, sheet, sure } from "./sheets.js";

const goods = (n) => `${units(n)} ${n === 1 ? "good unit" : "good units"}`; // what is typed is told to the last digit, and what was counted as everywhere
const at = (id) => (id.startsWith("@") ? id : encodeURIComponent(id)); // @ID is what an action will have made (queue.js)

/** Doing are the actions at a station (station.js) of a person (person.js). */
export class Doing {
  constructor(station, person) {
    Object.assign(this, { station, person });
  }

  /** view gives what is shown of the station now. */
  get view() {
    return shown(this.station, acts.pending(this.station));
  }

  async #do(control, { body = {}, ...action }) {
    const initials = await this.person.working(this.station);
    if (!initials) return undefined;
    return acts.act(control, this.station, this.view, { ...action, body: { ...body, initials } });
  }

  /** nameOf gives the name of a SKU, or its code. */
  nameOf(skuCode) {
    return skuCode === "UNKNOWN"
      ? "Unknown SKU"
      : (this.station.config?.skus.find((s) => s.code === skuCode)?.name ?? skuCode);
  }

  /** reasonName gives the name of a reason of a tree, by default the station's, or its code. */
  reasonName(code, tree = this.station.config?.reasons ?? []) {
    const find = (list) => {
      for (const r of list) {
        if (r.code === code) return r.name ?? r.code;
        const below = find(r.reasons);
        if (below) return below;
      }
      return null;
    };
    return find(tree) ?? code;
  }

  /** whatOf says what a schedule is about. */
  whatOf(schedule) {
    return schedule.skuCode ? schedule.skuCode : this.reasonName(schedule.reasonCode);
  }

  async book(kind) {
    // good, bad or reject
    const words = {
      good: ["Good units", (n) => `Book ${number(n)} good`, "good"],
      bad: ["Scrap", (n) => `Book ${number(n)} scrap`, "scrap"],
      reject: ["Reject good units", (n) => `Reject ${number(n)}`, "rejected"],
    }[kind];
    if (acts.rests(kind)) return;
    const { run } = this.view;
    const hint =
      kind === "good" && run && !run.countedByHand
        ? html`<p class="notice wait">The machine counts here. What you book is kept beside its count, and not added.</p>`
        : kind === "reject" && run
          ? html`<p class="muted">Of ${goods(run.goodCount)}.</p>`
          : nothing;
    const n = await keypad({
      title: words[0],
      action: (value) => (value ? words[1](value) : words[1](0)),
      hint: () => hint,
    });
    if (n)
      await this.#do(kind, {
        path: "/production",
        label: `${number(n)} ${words[2]}`,
        body: { stationCode: this.station.code, [kind]: n },
      });
  }

  async correct() {
    if (acts.rests("correct")) return;
    const of = await sheet(({ close }) => ({
      title: "Which count is wrong?",
      body: html`<div class="tiles"><button type="button" class="tile" data-of="good" @click=${() => close("good")}>Good</button><button type="button" class="tile" data-of="bad" @click=${() => close("bad")}>Scrap</button></div>`,
      actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>`,
    }));
    if (!of) return;
    const { run } = this.view,
      counted = of === "good" ? run?.goodCount : run?.badCount,
      word = of === "good" ? "good" : "scrap";
    const n = await keypad({
      title: `Correct ${word}`,
      signed: true,
      action: (value, sign) => `${number(Math.abs(value))} ${sign < 0 ? "fewer" : "more"}`,
      hint: (value) =>
        run ? html`<p class="muted">${units(counted)} now, ${units(counted + value)} then.</p>` : nothing,
    });
    if (n)
      await this.#do("correct", {
        path: "/production",
        label: `Corrected ${word} by ${n < 0 ? "−" : "+"}${number(Math.abs(n))}`,
        body: { stationCode: this.station.code, [of]: n, correction: true },
      });
  }

  /** lastEntry gives the entry of the running schedule that can be taken back: the latest, where it may be entered. */
  lastEntry(view = this.view) {
    const last =
      view.run &&
      view.entries.filter((e) => !e.undoes && !e.undoneBy && (e.waits || e.scheduleId === view.run.id)).at(-1);
    if (!last) return null;
    return this.station.flag(
      last.correction
        ? "enableProductionCorrection"
        : last.reject
          ? "enableRejectProduction"
          : "enableManualProduction",
    )
      ? last
      : null;
  }

  async undo(entry) {
    if (acts.rests("undo")) return;
    const what = entryText(entry);
    if (
      await sure({
        title: "Take back the last entry?",
        text: html`<p><strong>${what}</strong>, ${entry.initials}, ${time(entry.at, { zone: this.station.config?.plant.timezone, date: false })}. A counter-entry takes it back; both stay in the log.</p>`,
        action: `Take back ${what}`,
      })
    ) {
      await this.#do("undo", { path: `/production/${at(entry.id)}/undo`, label: `Took back ${what}` });
    }
  }

  /** ending tells how a schedule that runs is ended now: {move: "end"|"cutShort", may}. */
  ending(run) {
    const due = run.plannedEndAt ?? run.expectedEndAt;
    const over = due ? Date.parse(due) <= now() : run.plannedQuantity === null;
    const move = over || (run.plannedQuantity !== null && run.goodCount >= run.plannedQuantity) ? "end" : "cutShort";
    return { move, may: move === "end" || this.station.flag("enableScheduleCutShort") };
  }

  async end(run) {
    if (acts.rests("end")) return;
    const { move } = this.ending(run),
      what = this.whatOf(run),
      short = move === "cutShort";
    const left =
      run.plannedQuantity !== null && run.plannedQuantity !== undefined
        ? Math.max(0, run.plannedQuantity - run.goodCount)
        : 0;
    if (
      await sure({
        title: short ? `Cut ${what} short?` : `End ${what}?`,
        text: html`<p>${run.skuCode ? html`${goods(run.goodCount)}${run.plannedQuantity ? html` of ${units(run.plannedQuantity)}` : nothing}.` : nothing} ${short ? html`<strong>It ends before its planned end${left ? `, ${units(left)} short` : ""}.</strong>` : nothing}</p>`,
        action: short ? "Cut short" : "End",
        danger: short,
      })
    ) {
      await this.#do("end", {
        path: `/schedule/${at(run.id)}/end`,
        label: `${short ? "Cut short" : "Ended"}: ${what}`,
      });
    }
  }

  async start(schedule) {
    if (acts.rests("start")) return;
    const view = this.view,
      running = schedule.kind === "production" ? view.run : view.pause,
      what = this.whatOf(schedule),
      elsewhere = schedule.stationCode !== this.station.code;
    const text = html`
      <dl class="facts">${schedule.skuCode ? html`<div><dt>SKU</dt><dd dir="auto">${schedule.skuCode} · ${this.nameOf(schedule.skuCode)}</dd></div>` : nothing}
        ${schedule.workOrderReference ? html`<div><dt>Work order</dt><dd dir="auto">${schedule.workOrderReference}</dd></div>` : nothing}
        ${schedule.plannedQuantity ? html`<div><dt>Quantity</dt><dd>${units(schedule.plannedQuantity)}</dd></div>` : nothing}
        ${elsewhere ? html`<div><dt>Planned at</dt><dd dir="auto">${this.station.nameOf(schedule.stationCode)}; it moves here</dd></div>` : nothing}
        ${schedule.note ? html`<div><dt>Note</dt><dd dir="auto">${schedule.note}</dd></div>` : nothing}</dl>
      ${this.#ends(running)}`;
    if (
      !(await sure({
        title: `Start ${what}?`,
        text,
        action: running ? "End it and start" : "Start",
        may: this.#mayEnd(running),
      }))
    )
      return;
    await this.#do("start", {
      path: `/schedule/${at(schedule.id)}/start${running ? "?endrunning=true" : ""}`,
      label: `Started ${what}`,
      body: elsewhere ? { stationCode: this.station.code } : {},
    });
  }

  #mayEnd(running) {
    return !running || this.ending(running).may;
  }

  #ends(running) {
    if (!running) return nothing;
    const { move, may } = this.ending(running);
    return html`<p class=${may ? "notice wait" : "notice bad"}><strong>${this.whatOf(running)} is running.</strong> ${may ? `Starting this ends it${move === "cutShort" ? " before its planned end" : ""}.` : "It cannot be ended here before its planned end: cutting short is switched off."}</p>`;
  }

  async quick() {
    if (acts.rests("start")) return;
    const skus = this.station.config.skus.filter((s) => s.allowUseInQuickSchedule),
      reasons = reasonsOf(this.station.config.reasons, "non_production");
    let search = "";
    const chosen = await sheet(({ close, update }) => {
      const found = skus.filter(
        (s) => !search.trim() || `${s.code} ${s.name}`.toLowerCase().includes(search.trim().toLowerCase()),
      );
      return {
        title: "What do you start?",
        body: html`
          ${
            skus.length > 12
              ? html`<div class="field"><label for="f-search">Search</label><input id="f-search" type="search" autocomplete="off" .value=${search} @input=${(
                  e,
                ) => {
                  search = e.target.value;
                  update();
                }}></div>`
              : nothing
          }
          ${skus.length ? html`<h3>Make</h3><div class="tiles">${found.slice(0, 60).map((s) => html`<button type="button" class="tile" data-sku=${s.code} @click=${() => close({ skuCode: s.code })}><span dir="auto">${s.code}</span><small dir="auto">${s.name}</small></button>`)}</div>` : html`<p class="empty">No SKU may be started unplanned here.</p>`}
          ${found.length > 60 ? html`<p class="muted">${number(found.length - 60)} more: search for yours.</p>` : nothing}
          ${reasons.length ? html`<h3>Make nothing, because of</h3><button type="button" class="tile wide" data-do="reasons" @click=${() => close({ reasons: true })}>Break, service, meeting … <small>${count(reasons.length, "reason")}</small></button>` : nothing}`,
        actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>`,
      };
    });
    if (!chosen) return;
    if (chosen.reasons) return void (await this.#quickReason());
    await this.#quickSku(chosen.skuCode);
  }

  async #quickReason() {
    const reasonCode = await askReason({
      title: "Why is nothing made?",
      tree: this.station.config.reasons,
      kind: "non_production",
    });
    if (!reasonCode) return;
    const running = this.view.pause,
      name = this.reasonName(reasonCode);
    if (
      !(await sure({
        title: `Start ${name}?`,
        text: html`<p>What is being made pauses until this ends.</p>${this.#ends(running)}`,
        action: "Start",
        may: this.#mayEnd(running),
      }))
    )
      return;
    await this.#do("start", {
      path: `/quick-schedule${running ? "?endrunning=true" : ""}`,
      label: `Started ${name}`,
      body: { stationCode: this.station.code, reasonCode },
    });
  }

  async #quickSku(skuCode) {
    let plannedQuantity = null,
      workOrderReference = "";
    const running = this.view.run;
    for (;;) {
      const next = await sheet(({ close, update }) => ({
        title: `Start ${skuCode}?`,
        body: html`<p dir="auto">${this.nameOf(skuCode)}</p>
          <button type="button" class="tile wide" data-do="quantity" @click=${() => close("quantity")}>Quantity: ${plannedQuantity ? number(plannedQuantity) : "open"}<small>tap to set</small></button>
          <div class="field"><label for="f-order">Work order, if there is one</label><input id="f-order" maxlength="128" autocomplete="off" dir="auto" .value=${workOrderReference} @input=${(
            e,
          ) => {
            workOrderReference = e.target.value;
            update();
          }}></div>
          ${this.#ends(running)}`,
        actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>${this.#mayEnd(running) ? html`<button type="button" autofocus class="button large primary" @click=${() => close("start")}>${running ? "End it and start" : "Start"}</button>` : nothing}`,
      }));
      if (!next) return;
      if (next === "start") break;
      plannedQuantity =
        (await keypad({ title: "Quantity", action: (n) => `${number(n)} units`, none: "No quantity" })) ?? null;
    }
    const body = {
      stationCode: this.station.code,
      skuCode,
      ...(plannedQuantity && { plannedQuantity }),
      ...(workOrderReference.trim() && { workOrderReference: workOrderReference.trim() }),
    };
    await this.#do("start", {
      path: `/quick-schedule${running ? "?endrunning=true" : ""}`,
      label: `Started ${skuCode}`,
      body,
    });
  }

  /** recent gives the codes of reasons that were given lately here, on this tablet and on others. */
  recent(view = this.view) {
    const given = view.issues
      .filter((i) => i.causeCode)
      .sort((a, b) => (a.startAt < b.startAt ? 1 : -1))
      .map((i) => i.causeCode);
    return [...new Set([...this.person.reasons(this.station.code), ...given])];
  }

  async reason(issue) {
    if (acts.rests("reason")) return;
    const view = this.view,
      tree = this.station.config.reasons; // which may be another one by then
    const code = await askReason({
      title: issue.type === "slow" ? "Why is it slow?" : "Why does it stand?",
      tree,
      kind: "downtime",
      recent: this.recent(view),
      intro: html`<p class="muted">Since ${time(issue.startAt, { zone: this.station.config.plant.timezone, date: false })}${issue.endAt ? `, for ${duration(minutes(issue.durationMs))}` : ""}${issue.causeCode ? html`; it is <strong>${this.reasonName(issue.causeCode)}</strong> so far` : nothing}.</p>`,
    });
    if (!code) return;
    const done = await this.#do("reason", {
      path: `/issue/${at(issue.id)}/cause`,
      label: `Reason: ${this.reasonName(code, tree)}`,
      body: { causeCode: code },
    });
    if (done && done.state !== "refused") this.person.gave(this.station.code, code);
  }

  async down() {
    if (acts.rests("down")) return;
    const tree = this.station.config.reasons;
    const code = await askReason({
      title: "Report downtime: why?",
      intro: html`<p class="muted">Nothing is counted until you end it.</p>`,
      tree,
      kind: "downtime",
      recent: this.recent(),
      none: "Not known yet",
    });
    if (code === undefined) return;
    const done = await this.#do("down", {
      path: "/issue",
      label: code ? `Downtime: ${this.reasonName(code, tree)}` : "Downtime",
      body: { stationCode: this.station.code, ...(code && { causeCode: code }) },
    });
    if (code && done && done.state !== "refused") this.person.gave(this.station.code, code);
  }

  async up() {
    if (acts.rests("down")) return;
    if (
      await sure({
        title: "End the downtime?",
        text: html`<p>The machine is ready, and units count again.</p>`,
        action: "End downtime",
      })
    ) {
      await this.#do("down", {
        path: "/issue",
        label: "Downtime ended",
        stamp: "endAt",
        body: { stationCode: this.station.code },
      });
    }
  }

  async complete(task) {
    if (acts.rests(`task ${task.id}`)) return;
    let note = "";
    if (task.requireNotes || task.askNote) {
      note = await askText({
        title: task.title,
        intro: task.description ? html`<p dir="auto">${task.description}</p>` : nothing,
        label: task.requireNotes ? "Notes: this Task needs them" : "Notes",
        action: "Done",
        required: task.requireNotes,
      });
      if (note === undefined) return;
    }
    await this.#do(`task ${task.id}`, {
      path: `/task/${at(task.id)}/complete`,
      label: `Done: ${task.title}`,
      body: note ? { note } : {},
    });
  }

  async startList(list) {
    if (acts.rests(`list ${list.code}`)) return;
    if (
      await sure({
        title: `Start ${list.name}?`,
        text: html`${list.description ? html`<p dir="auto">${list.description}</p>` : nothing}<p>${count(list.tasks.length, "Task")} will wait for you.</p>`,
        action: "Start",
      })
    ) {
      await this.#do(`list ${list.code}`, {
        path: `/task-list/${at(list.code)}/start`,
        label: `Started ${list.name}`,
        body: { stationCode: this.station.code },
      });
    }
  }

  async write() {
    if (acts.rests("message")) return;
    const text = await askText({
      title: "A message to the next shift",
      label: "What should they know?",
      action: "Leave it",
      required: true,
      limit: 500,
    });
    if (text)
      await this.#do("message", {
        path: "/message",
        label: "Message left",
        body: { stationCode: this.station.code, text },
      });
  }

  settle(message) {
    return this.#do(`message ${message.id}`, { path: `/message/${at(message.id)}/done`, label: "Message done" });
  }
}

/** minutes rounds ms to whole minutes, or seconds below one. */
export const minutes = (ms) => (ms < 60_000 ? Math.floor(ms / 1000) * 1000 : Math.floor(ms / 60_000) * 60_000);

/** entryText says what an entry is. */
export function entryText({ good, bad, reject, correction }) {
  const of = (n, word) =>
    n ? [`${correction && n > 0 ? "+" : ""}${n < 0 ? "−" : ""}${number(Math.abs(n))} ${word}`] : [];
  return [...of(good, "good"), ...of(bad, "scrap"), ...of(reject, "rejected")].join(", ");
}
