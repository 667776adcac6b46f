// One operation: what it does, what it takes, what it answers, and a command to try it with.
import { el, snippet } from "../shared/dom.js";
import { text } from "../shared/words.js";
import { either, follow, grid, inline, kind, prose, rules, table } from "./schema.js";

/** operationSection describes an operation. */
export function operationSection(doc, op) {
  return el(
    "section",
    { class: "operation", id: op.operationId },
    el(
      "h3",
      { tabindex: "-1" },
      el(
        "a",
        { href: `#${op.operationId}`, class: "self", "aria-label": `${op.method.toUpperCase()} ${op.path}` },
        el("span", { class: `verb ${op.method}` }, op.method.toUpperCase()),
        el("code", null, breakable(op.path)),
      ),
    ),
    el("p", { class: "summary" }, op.summary),
    el("p", { class: "needs" }, needs(doc, op)),
    prose(op.description),
    parameters(doc, op),
    body(doc, op),
    answers(doc, op),
    part(text("docs.try"), snippet(curl(op), { label: text("docs.try.copy", { id: op.operationId }) })),
  );
}

/** breakable makes a path that may be broken after its slashes. */
export function breakable(path) {
  return path.split("/").flatMap((part, i) => (i ? ["/", el("wbr"), part] : [part]));
}

function part(title, ...content) {
  return el("div", { class: "part" }, el("h4", null, title), content);
}

function needs(doc, op) {
  const wanted = op.security ?? doc.security;
  const schemes = [...new Set(wanted.flatMap((one) => Object.keys(one)))].map(
    (name) => doc.components.securitySchemes[name]["x-name"],
  );
  const open = wanted.length === 0 || wanted.some((one) => Object.keys(one).length === 0);
  return [
    el(
      "span",
      { class: open ? "tag open" : "tag" },
      open ? text("docs.keyless") : text("docs.needs", { schemes: either(schemes) }),
    ),
    el("code", { class: "muted" }, op.operationId),
  ];
}

function parameters(doc, op) {
  const list = op.parameters.map((p) => follow(doc, p));
  if (list.length === 0) return null;
  return part(
    text("docs.parameters"),
    grid(
      text("docs.parameters.of", { id: op.operationId }),
      [text("docs.name"), text("docs.in"), text("docs.type"), text("docs.meaning")],
      list.map((p) => [
        [el("code", null, p.name), p.required ? el("span", { class: "required" }, text("docs.required")) : null],
        p.in,
        [kind(p.schema), rules(p.schema).length ? [", ", rules(p.schema)] : null],
        inline(p.description),
      ]),
    ),
  );
}

function body(doc, op) {
  if (!op.requestBody) return null;
  const [type, media] = Object.entries(op.requestBody.content)[0];
  const schema = follow(doc, media.schema);
  const name = media.schema.$ref ? kind(media.schema) : "";
  return part(
    text("docs.body"),
    el(
      "p",
      { class: "muted" },
      `${type}, `,
      op.requestBody.required ? text("docs.required") : text("docs.optional"),
      name ? [", ", name] : null,
    ),
    table(schema, text("docs.body.fields", { id: op.operationId })),
    example(media.example, text("docs.body.copy", { id: op.operationId })),
  );
}

function answers(doc, op) {
  const success = [];
  const rest = [];
  for (const [status, ref] of Object.entries(op.responses)) {
    const answer = follow(doc, ref);
    if (status[0] === "2") success.push(well(doc, op, status, answer));
    else {
      const schema = follow(doc, answer.content?.["application/json"]?.schema) ?? {};
      const code = schema.properties?.errorCode?.const;
      rest.push([el("code", null, status), code ? el("code", null, code) : "", inline(answer.description)]);
    }
  }
  return part(
    text("docs.answers"),
    success,
    rest.length
      ? el(
          "details",
          null,
          el(
            "summary",
            null,
            text("docs.answers.other", {
              codes: Object.keys(op.responses)
                .filter((s) => s[0] !== "2")
                .join(", "),
            }),
          ),
          grid(
            text("docs.answers.otherOf", { id: op.operationId }),
            [text("docs.status"), "errorCode", text("docs.when")],
            rest,
          ),
        )
      : null,
  );
}

function well(doc, op, status, answer) {
  const [type, media] = Object.entries(answer.content ?? {})[0] ?? [];
  const head = el("p", null, el("span", { class: "tag good" }, status), " ", inline(answer.description));
  if (!media) return head;
  return [
    head,
    shape(type, media.schema),
    headers(doc, op, answer),
    example(media.example, text("docs.answer.copy", { id: op.operationId })),
  ];
}

// shape says in a line what a body is: the envelope's members, or the model that it is.
function shape(type, schema) {
  const members = Object.entries(schema.properties ?? {});
  const what =
    members.length === 0
      ? kind(schema)
      : members.flatMap(([name, value], i) => [i ? ", " : "", el("code", null, name), " ", ...kind(value)]);
  return el("p", { class: "shape" }, `${type}: `, what);
}

function headers(doc, op, answer) {
  const list = Object.entries(answer.headers ?? {});
  if (list.length === 0) return null;
  return grid(
    text("docs.headers", { id: op.operationId }),
    [text("docs.header"), text("docs.meaning")],
    list.map(([name, h]) => [el("code", null, name), inline(follow(doc, h).description)]),
  );
}

function example(value, label) {
  if (value === undefined) return null;
  const content = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return el(
    "details",
    { class: "example", open: content.length < 900 },
    el("summary", null, text("docs.example")),
    snippet(content, { label }),
  );
}

/** curl writes a command for a POSIX shell, with the key in the variable KEY. */
export function curl(op) {
  const values = (where) => op.parameters.filter((p) => p.in === where && p.example !== undefined);
  let path = op.path;
  for (const p of values("path")) path = path.replace(`{${p.name}}`, encodeURIComponent(p.example));
  const query = values("query")
    .filter((p) => p.required)
    .map((p) => `${p.name}=${encodeURIComponent(p.example)}`)
    .join("&");
  const lines = [`curl ${quote(location.origin + path + (query ? `?${query}` : ""))}`];
  if (op.method !== "get") lines[0] = lines[0].replace("curl", `curl -X ${op.method.toUpperCase()}`);
  if (!op.security || op.security.some((one) => "ApiKeyAuth" in one)) lines.push(`-H "X-API-KEY: $KEY"`);
  const media = op.requestBody?.content["application/json"];
  if (media) lines.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(media.example))}`);
  return lines.join(" \\\n  ");
}

function quote(text) {
  return /^[\w:/.@%?=&-]+$/.test(text) && !/[?&]/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
