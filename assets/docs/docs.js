// The API's documentation, made from /openapi.json in the browser.
import { el } from "../shared/dom.js";
import { text } from "../shared/words.js";
import { breakable, operationSection } from "./operation.js";
import { modelSection, prose } from "./schema.js";

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const search = document.getElementById("search");
const found = document.getElementById("found");
const contents = document.getElementById("contents");
const methods = ["get", "post", "put", "patch", "delete"];

/** entries are what the page shows: each with its section, its place in the contents and the text it is found by. */
const entries = [];

async function read() {
  const answer = await fetch("/openapi.json", { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(text("docs.failed.status", { status: answer.status }));
  return answer.json();
}

function operations(doc) {
  const list = [];
  for (const [path, item] of Object.entries(doc.paths)) {
    for (const method of methods) {
      if (item[method])
        list.push({
          ...item[method],
          method,
          path,
          parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])],
        });
    }
  }
  return list;
}

function render(doc) {
  const head = el(
    "header",
    { class: "intro" },
    el("p", { class: "eyebrow" }, text("docs.version", { version: doc.info.version })),
    el("h1", null, doc.info.title),
    prose(doc.info.description),
    el("p", null, el("a", { class: "button", href: "/openapi.json" }, text("docs.document"))),
  );
  main.replaceChildren(head);
  const all = operations(doc);
  for (const tag of doc.tags) {
    const members = all.filter((op) => op.tags.includes(tag.name));
    if (members.length === 0) continue;
    group(
      `tag-${tag.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`,
      tag.name,
      tag.description,
      members.map((op) => ({
        id: op.operationId,
        section: operationSection(doc, op),
        link: [
          el("span", { class: `verb ${op.method}` }, op.method.toUpperCase()),
          el("span", null, breakable(op.path)),
        ],
        text: [op.operationId, op.method, op.path, tag.name].join(" "),
      })),
    );
  }
  group(
    "tag-models",
    text("docs.models"),
    text("docs.models.text"),
    Object.entries(doc.components.schemas).map(([name, schema]) => ({
      id: `model-${name}`,
      section: modelSection(doc, name, schema),
      link: [el("span", null, name)],
      text: name,
    })),
  );
  main.setAttribute("aria-busy", "false");
}

// group adds a heading with what stands under it, here and in the contents.
function group(id, title, description, members) {
  const list = el("ul");
  const item = el(
    "section",
    { class: "group", "aria-labelledby": id },
    el("h2", { id, tabindex: "-1" }, title),
    prose(description),
  );
  const block = el("div", null, el("a", { href: `#${id}`, class: "group-link" }, title), list);
  for (const m of members) {
    const link = el("a", { href: `#${m.id}` }, m.link);
    const row = el("li", null, link);
    list.append(row);
    item.append(m.section);
    entries.push({ ...m, row, anchor: link, item, block, text: `${m.text} ${m.section.textContent}`.toLowerCase() });
  }
  main.append(item);
  nav.append(block);
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  const visible = new Set();
  for (const e of entries) {
    const match = words.every((word) => e.text.includes(word));
    e.section.hidden = e.row.hidden = !match;
    if (match) {
      shown++;
      visible.add(e.item).add(e.block);
    }
  }
  for (const e of entries) {
    e.item.hidden = !visible.has(e.item);
    e.block.hidden = !visible.has(e.block);
  }
  found.textContent =
    words.length === 0
      ? ""
      : shown === 0
        ? text("docs.found.none")
        : text("docs.found", { n: shown, all: entries.length });
}

// follow goes to what the address names, also when a search hides it.
function follow() {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = id && document.getElementById(id);
  if (!target) return;
  if (target.closest("[hidden]")) {
    search.value = "";
    filter();
  }
  target.scrollIntoView({ behavior: "instant" });
  (target.querySelector("h3") ?? target).focus({ preventScroll: true });
}

// mark shows in the contents what is being read.
function mark() {
  const byTarget = new Map(entries.map((e) => [e.section, e]));
  let current = null;
  const observer = new IntersectionObserver(
    (changes) => {
      for (const change of changes) {
        if (!change.isIntersecting || byTarget.get(change.target) === current) continue;
        current?.anchor.removeAttribute("aria-current");
        current = byTarget.get(change.target);
        current.anchor.setAttribute("aria-current", "location");
        if (narrow.matches) continue;
        const box = nav.parentElement.parentElement;
        const at = current.anchor.offsetTop;
        if (at < box.scrollTop + 160 || at > box.scrollTop + box.clientHeight - 80)
          box.scrollTop = at - box.clientHeight / 3;
      }
    },
    { rootMargin: "-10% 0px -80% 0px" },
  );
  for (const e of entries) observer.observe(e.section);
}

const narrow = matchMedia("(max-width: 60rem)");
const fold = () => {
  contents.open = !narrow.matches;
};
narrow.addEventListener("change", fold);
fold();

search.addEventListener("input", filter);
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    search.value = "";
    filter();
  } else if (event.key === "Enter") {
    const first = entries.find((e) => !e.section.hidden);
    if (!first) return;
    // A changed address is followed when the browser tells of it, once: a second time would take the focus back from a reader who went on.
    if (location.hash === `#${first.id}`) follow();
    else location.hash = first.id;
  }
});
addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});
nav.addEventListener("click", (event) => {
  if (event.target.closest("a") && narrow.matches) contents.open = false;
});
addEventListener("hashchange", follow);

// On paper everything is open.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const d of closed) d.open = true;
});
addEventListener("afterprint", () => {
  for (const d of closed) d.open = false;
});

try {
  render(await read());
  follow();
  mark();
} catch (error) {
  main.replaceChildren(
    el(
      "div",
      { class: "notice bad", role: "alert" },
      el("strong", null, text("docs.failed.title")),
      text("docs.failed", { reason: error.message }),
    ),
  );
  main.setAttribute("aria-busy", "false");
}
