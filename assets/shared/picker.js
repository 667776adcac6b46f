// Choosing several of many: chips of what is chosen, and a box that finds the rest.

import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { matches } from "./format.js";
import { text } from "./words.js";

/** Most that a list of finds shows; typing narrows it. */
const shown = 50;

/**
 * picker shows the codes of f.value (null: not set) as chips and lets more be found among f.options [{value, label, hint}].
 * With f.single one is chosen at a time, and change is called with it last.
 * An empty list and none at all are different things in a manifest (decisions.md section 3), so both can be chosen.
 */
export function picker(f) {
  const chosen = f.value ?? [],
    names = new Map(f.options?.map((o) => [o.value, o.label]));
  const id = f.id;
  const add = (code) => {
    if (code && !chosen.includes(code)) f.change([...chosen, code]);
  };
  return html`<div class="picker" role="group" aria-label=${f.label}>
    ${chosen.map((code) => html`<span class=${names.size && !names.has(code) ? "chip unknown" : "chip"}><bdi title=${names.get(code) ?? text("shared.picker.unknown")}>${code}</bdi>${f.disabled ? nothing : html`<button type="button" aria-label=${text("shared.picker.remove", { code })} @click=${() => f.change(chosen.filter((c) => c !== code))}>✕</button>`}</span>`)}
    ${f.value !== null && chosen.length === 0 ? html`<span class="muted small">${text("shared.picker.empty")}</span>` : nothing}
    ${
      f.disabled
        ? f.value === null
          ? html`<span class="muted">${text("shared.picker.unset")}</span>`
          : nothing
        : html`
      <span class="finder">
        <input id=${id} type="text" role="combobox" aria-expanded="false" aria-controls=${`${id}-list`} aria-autocomplete="list" autocomplete="off" placeholder=${f.placeholder ?? (f.value === null ? text("shared.picker.find.unset") : text("shared.picker.find"))}
          aria-describedby=${f.described} @input=${(e) => find(e.target, f, add)} @focus=${(e) => find(e.target, f, add)} @keydown=${(e) => keys(e, f, add)} @blur=${(e) => hide(e.target)}>
        <span class="finds" id=${`${id}-list`} role="listbox" aria-label=${f.label} hidden></span>
      </span>
      ${f.value === null ? html`<span class="on-paper muted">${text("shared.picker.unset")}</span>` : nothing}
      ${f.value === null || f.single ? nothing : html`<button type="button" class="link" @click=${() => f.change(null)}>${text("shared.picker.unset")}</button>`}
      ${f.value === null && f.allowEmpty ? html`<button type="button" class="link" @click=${() => f.change([])}>${text("shared.picker.none")}</button>` : nothing}`
    }
  </div>`;
}

const listOf = (box) => box.parentElement.querySelector(".finds");

function hide(box) {
  listOf(box).hidden = true;
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
}

function find(box, f, add) {
  const chosen = new Set(f.value ?? []);
  const found = (f.options ?? []).filter(
    (o) => !chosen.has(o.value) && matches(box.value, o.value, o.label ?? "", o.hint ?? ""),
  );
  const list = listOf(box);
  box.at = 0;
  render(
    html`${found.slice(0, shown).map(
      (
        o,
        i,
      ) => html`<span role="option" id=${`${box.id}-${i}`} aria-selected=${i === 0 ? "true" : "false"} data-value=${o.value}
      @mousedown=${(e) => {
        e.preventDefault();
        take(box, add, o.value);
      }}><bdi>${o.value}</bdi> <span class="muted">${o.label === o.value ? "" : o.label} ${o.hint ?? ""}</span></span>`,
    )}
    ${found.length > shown ? html`<span class="muted small more">${text("shared.picker.more", { n: found.length - shown })}</span>` : nothing}
    ${found.length === 0 ? html`<span class="muted small more">${text("shared.picker.nothing")}</span>` : nothing}`,
    list,
  );
  list.hidden = false;
  box.setAttribute("aria-expanded", "true");
  mark(box, list);
}

function mark(box, list) {
  const all = [...list.querySelectorAll("[role=option]")];
  box.at = Math.max(0, Math.min(box.at, all.length - 1));
  all.forEach((o, i) => o.setAttribute("aria-selected", String(i === box.at)));
  if (all[box.at]) {
    box.setAttribute("aria-activedescendant", all[box.at].id);
    all[box.at].scrollIntoView({ block: "nearest" });
  }
}

function take(box, add, value) {
  box.value = "";
  hide(box);
  add(value);
}

function keys(event, f, add) {
  const box = event.target,
    list = listOf(box);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (list.hidden) return find(box, f, add);
    box.at += event.key === "ArrowDown" ? 1 : -1;
    mark(box, list);
  } else if (event.key === "Enter") {
    event.preventDefault();
    if (!list.hidden) take(box, add, list.querySelectorAll("[role=option]")[box.at]?.dataset.value);
  } else if (event.key === "Escape" && !list.hidden) {
    event.preventDefault();
    hide(box);
  } else if (event.key === "Backspace" && box.value === "" && f.value?.length) {
    f.change(f.value.slice(0, -1));
  }
}
