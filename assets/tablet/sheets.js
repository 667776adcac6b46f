// Sheets: what is asked for in a step of its own, in keys that a glove hits.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { openDialog } from "../shared/dialog.js";
import { count, matches, number } from "../shared/format.js";
import { fit, rule } from "../shared/initials.js";
import { rest } from "./hands.js";

/** sheet is openDialog of dialog.js for this page: what is tapped twice opens nothing twice. */
export async function sheet(content) {
  rest();
  const value = await openDialog(content, { wide: true });
  rest();
  return value;
}

/** sure asks before something with consequences: true or false. Where it may not be done it only tells. */
export const sure = ({ title, text, action, danger = false, may = true }) =>
  sheet(({ close }) => ({
    title,
    body: html`${text}`,
    actions: html`<button type="button" class="button large" @click=${() => close(false)}>Back</button>
    ${may ? html`<button type="button" autofocus class=${danger ? "button large danger" : "button large primary"} @click=${() => close(true)}>${action}</button>` : nothing}`,
  })).then(Boolean);

const most = 9; // digits

/**
 * keypad asks for a number above 0: it gives it, or undefined. action(value, sign) is what the key says that is pressed at the end, hint
 * stands below the number; with none, an empty one can be given too, as null, by a key that says so.
 */
export function keypad({ title, action, hint = () => nothing, none = "", signed = false }) {
  let text = "",
    sign = 1;
  return sheet(({ close, update, element }) => {
    const value = () => sign * Number(text || 0) || 0; // without −0
    const press = (key) => {
      if (key === "⌫") text = text.slice(0, -1);
      else if (key === "." && (text.includes(".") || text === "")) return;
      else if (text.replace(".", "").length < most) text = text === "0" && key !== "." ? key : text + key;
      update();
    };
    const done = () => {
      if (value() !== 0) close(value());
    };
    element.onkeydown = (event) => {
      if (/^[0-9.]$/.test(event.key)) press(event.key);
      else if (event.key === ",") press(".");
      else if (event.key === "Backspace") press("⌫");
      else if (event.key === "Enter" && !event.target.closest?.("button")) done();
      else return;
      event.preventDefault();
    };
    return {
      title,
      body: html`<div class="keypad">
        <output class="entered" aria-live="polite">${sign < 0 ? "−" : ""}${text === "" ? "0" : shownNumber(text)}</output>
        <div class="entered-hint">${hint(value())}</div>
        ${
          signed
            ? html`<div class="signs" role="group" aria-label="More or fewer">
          <button type="button" class="button large" aria-pressed=${String(sign > 0)} @click=${() => {
            sign = 1;
            update();
          }}>+ more</button>
          <button type="button" class="button large" aria-pressed=${String(sign < 0)} @click=${() => {
            sign = -1;
            update();
          }}>− fewer</button></div>`
            : nothing
        }
        <div class="keys" role="group" aria-label="Digits">${[
          "1",
          "2",
          "3",
          "4",
          "5",
          "6",
          "7",
          "8",
          "9",
          ".",
          "0",
          "⌫",
        ].map(
          (key) => html`
          <button type="button" class="key" data-key=${key} aria-label=${key === "⌫" ? "Delete the last digit" : key === "." ? "Decimal point" : key} @click=${() => press(key)}>${key}</button>`,
        )}</div>
      </div>`,
      actions: html`${none ? html`<button type="button" class="button large" @click=${() => close(null)}>${none}</button>` : nothing}
        <button type="button" class="button large primary" data-do="done" ?disabled=${value() === 0} @click=${done}>${action(value(), sign)}</button>`,
    };
  });
}

const shownNumber = (text) => {
  const [whole, fraction] = text.split(".");
  return number(Number(whole)) + (fraction === undefined ? "" : `.${fraction}`);
};

const noteLimit = 1000; // characters

/**
 * askText asks for a few words: it gives them, or undefined. With required nothing can be given without them.
 */
export function askText({
  title,
  label,
  action,
  intro = nothing,
  required = false,
  limit = noteLimit,
  value = "",
  lines = 4,
}) {
  return sheet(({ close, update }) => ({
    title,
    body: html`${intro}<div class="field"><label for="f-text">${label}</label>
      <textarea id="f-text" rows=${lines} maxlength=${limit} dir="auto" .value=${value} @input=${(e) => {
        value = e.target.value;
        update();
      }}></textarea></div>`,
    actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>
      <button type="button" class="button large primary" data-do="done" ?disabled=${required && value.trim() === ""} @click=${() => close(value.trim())}>${action}</button>`,
  }));
}

/** askInitials asks who is working; known are those to choose from. */
export function askInitials({ known, current }) {
  let value = "";
  return sheet(({ close, update }) => {
    const done = () => {
      if (fit(value)) close(value.trim());
    };
    return {
      title: "Who is working here?",
      body: html`
        ${known.length ? html`<div class="tiles" role="group" aria-label="Who was here lately">${known.map((who) => html`<button type="button" class="tile" dir="auto" aria-pressed=${String(who === current)} @click=${() => close(who)}>${who}</button>`)}</div>` : nothing}
        <div class="field"><label for="f-initials">Your initials</label>
          <input id="f-initials" autocomplete="off" autocapitalize="characters" autocorrect="off" spellcheck="false" maxlength="16" enterkeyhint="done" dir="auto" .value=${value}
            @input=${(e) => {
              value = e.target.value;
              update();
            }} @keydown=${(e) => {
              if (e.key === "Enter") done();
            }}>
          <p class="hint">${rule()}. They stand with what you do until the shift ends.</p></div>`,
      actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>
        <button type="button" class="button large primary" data-do="done" ?disabled=${!fit(value)} @click=${done}>That is me</button>`,
    };
  });
}

const usable = (reason, kind) => !reason.heading && (!reason.type || reason.type.includes(kind));
const some = (reason, kind) => usable(reason, kind) || reason.reasons.some((r) => some(r, kind));

/** reasonsOf gives the reasons of a kind ("downtime", "non_production") that can be chosen, from a tree, each with its path of names. */
export function reasonsOf(tree, kind, path = []) {
  return tree.flatMap((reason) => {
    const here = [...path, reason.name ?? reason.code];
    return [...(usable(reason, kind) ? [{ ...reason, path: here }] : []), ...reasonsOf(reason.reasons, kind, here)];
  });
}

/**
 * askReason asks for a reason of a tree: the recent ones first, then level by level. It gives its code, null by the key that none
 * names, or undefined.
 */
export function askReason({ title, intro = nothing, tree, kind, recent = [], none = "" }) {
  const all = reasonsOf(tree, kind),
    way = [];
  const late = recent
    .map((code) => all.find((r) => r.code === code))
    .filter(Boolean)
    .slice(0, 6);
  let search = "";
  return sheet(({ close, update }) => {
    const level = way.at(-1)?.reasons ?? tree;
    const found = search.trim() ? all.filter((r) => matches(search, r.path.join(" "), r.code)) : null;
    const pick = (
      reason,
    ) => html`<button type="button" class="tile" data-reason=${reason.code} title=${reason.description ?? nothing} @click=${() => close(reason.code)}>
      <span dir="auto">${reason.name ?? reason.code}</span>${reason.path?.length > 1 ? html`<small dir="auto">${reason.path.slice(0, -1).join(" › ")}</small>` : reason.description ? html`<small dir="auto">${reason.description}</small>` : nothing}</button>`;
    const go = (reason) =>
      html`<button type="button" class="tile more" data-reason=${reason.code} @click=${() => {
        way.push(reason);
        rest();
        update();
      }}><span dir="auto">${reason.name ?? reason.code}</span><small>${count(reason.reasons.filter((r) => some(r, kind)).length, "reason")} ›</small></button>`;
    return {
      title,
      body: html`${intro}
        ${late.length && !way.length && !found ? html`<h3>Recent</h3><div class="tiles recent">${late.map(pick)}</div><h3>All</h3>` : nothing}
        ${
          way.length && !found
            ? html`<div class="row"><button type="button" class="button large" data-do="up" @click=${() => {
                way.pop();
                rest();
                update();
              }}>‹ Back to ${way.at(-2)?.name ?? "all"}</button><strong dir="auto">${way.map((r) => r.name ?? r.code).join(" › ")}</strong></div>`
            : nothing
        }
        ${
          all.length > 12 && !way.length
            ? html`<div class="field"><label for="f-search">Search</label><input id="f-search" type="search" autocomplete="off" .value=${search} @input=${(
                e,
              ) => {
                search = e.target.value;
                update();
              }}></div>`
            : nothing
        }
        <div class="tiles">${
          found
            ? found.slice(0, 24).map(pick)
            : html`
          ${way.length && usable(way.at(-1), kind) ? html`<button type="button" class="tile" data-reason=${way.at(-1).code} @click=${() => close(way.at(-1).code)}><span dir="auto">${way.at(-1).name ?? way.at(-1).code}</span><small>nothing more is known</small></button>` : nothing}
          ${level.filter((r) => some(r, kind)).map((r) => (r.reasons.some((c) => some(c, kind)) ? go(r) : pick(r)))}`
        }</div>
        ${found?.length === 0 ? html`<p class="empty">No reason has these words.</p>` : nothing}
        ${all.length === 0 ? html`<p class="empty">No reasons are set up for this station.</p>` : nothing}`,
      actions: html`<button type="button" class="button large" @click=${() => close()}>Back</button>${none ? html`<button type="button" class="button large" data-do="none" @click=${() => close(null)}>${none}</button>` : nothing}`,
    };
  });
}
