// Schemas as tables: one row a field, inline objects opened up, named ones linked.
import { el } from "../shared/dom.js";
import { text } from "../shared/words.js";

const prefix = "#/components/schemas/";

/** prose makes paragraphs of a description; blank lines part them and `code` stands between backticks. */
export function prose(text) {
  return el(
    "div",
    { class: "prose" },
    (text ?? "")
      .split(/\n{2,}/)
      .filter(Boolean)
      .map((p) => el("p", null, inline(p))),
  );
}

/** inline makes text with `code` in it. */
export function inline(text) {
  return (text ?? "").split("`").map((part, i) => (i % 2 ? el("code", null, part) : part));
}

function link(ref) {
  const name = ref.slice(prefix.length);
  return el("a", { href: `#model-${name}` }, name);
}

/** follow gives what a local $ref points to, and anything else as it is. */
export function follow(doc, value) {
  if (!value?.$ref) return value;
  const target = value.$ref
    .slice(2)
    .split("/")
    .reduce((node, key) => node[key.replaceAll("~1", "/").replaceAll("~0", "~")], doc);
  return { ...target, ...value, $ref: undefined };
}

/** either joins what one of several is. */
export const either = (several) => [several.reduce((one, other) => text("docs.or", { one, other }))];

/** kind says what type a schema has, with links to models. */
export function kind(schema) {
  if (schema.$ref) return [link(schema.$ref)];
  const choice = schema.oneOf ?? schema.anyOf;
  if (choice) return either(choice.map(kind));
  if (schema.const !== undefined)
    return [text("docs.type.always", { value: el("code", null, JSON.stringify(schema.const)) })];
  if (schema.enum)
    return [
      text("docs.type.oneOf", {
        values: schema.enum.flatMap((v, i) => [i ? ", " : "", el("code", null, v === null ? "null" : String(v))]),
      }),
    ];
  const types = [schema.type ?? text("docs.type.any")].flat();
  return either(
    types.map((type) =>
      type === "array" && schema.items ? text("docs.type.arrayOf", { type: kind(schema.items) }) : type,
    ),
  );
}

/** rules lists what a value must keep to beyond its type. */
export function rules(schema) {
  const list = [];
  const n = (v) => v.toLocaleString("en-GB", { useGrouping: false, maximumFractionDigits: 20 });
  if (schema.minimum !== undefined) list.push(`≥ ${n(schema.minimum)}`);
  if (schema.exclusiveMinimum !== undefined) list.push(`> ${n(schema.exclusiveMinimum)}`);
  if (schema.maximum !== undefined) list.push(`≤ ${n(schema.maximum)}`);
  if (schema.exclusiveMaximum !== undefined) list.push(`< ${n(schema.exclusiveMaximum)}`);
  if (schema.minLength !== undefined || schema.maxLength !== undefined)
    list.push(span(schema.minLength, schema.maxLength, "character"));
  if (schema.minItems !== undefined || schema.maxItems !== undefined)
    list.push(span(schema.minItems, schema.maxItems, "item"));
  if (schema.format) list.push(schema.format);
  if (schema.pattern) list.push(el("code", null, schema.pattern));
  if (schema.default !== undefined) list.push(text("docs.limit.default", { value: JSON.stringify(schema.default) }));
  if (schema.deprecated) list.push(text("docs.limit.deprecated"));
  return list.flatMap((rule, i) => (i ? [", ", rule] : [rule]));
}

function span(least, most, what) {
  if (most === undefined) return text(`docs.limit.${what}.least`, { least });
  if (least === undefined) return text(`docs.limit.${what}.most`, { most });
  return least === most
    ? text(`docs.limit.${what}.same`, { n: least })
    : text(`docs.limit.${what}.both`, { least, most });
}

/** fields gives the rows of a schema: [path, required, schema], inline objects opened up. */
function fields(schema, path = "") {
  const rows = [];
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    const here = path + name;
    rows.push([here, (schema.required ?? []).includes(name), value]);
    if (value.properties) rows.push(...fields(value, `${here}.`));
    if (value.items?.properties) rows.push(...fields(value.items, `${here}[].`));
  }
  return rows;
}

/** table makes the table of fields of a schema; null when it has none. */
export function table(schema, caption) {
  const rows = fields(schema);
  if (rows.length === 0) return null;
  return grid(
    caption,
    [text("docs.field"), text("docs.type"), text("docs.limits"), text("docs.meaning")],
    rows.map(([path, required, value]) => [
      [el("code", null, path), required ? el("span", { class: "required" }, text("docs.required")) : null],
      kind(value),
      rules(value),
      inline(value.description),
    ]),
  );
}

/** grid makes a table that becomes a list of blocks where it is narrow. */
export function grid(caption, heads, rows) {
  return el(
    "div",
    { class: "scroll" },
    el(
      "table",
      null,
      el("caption", null, caption),
      el(
        "thead",
        null,
        el(
          "tr",
          null,
          heads.map((h) => el("th", { scope: "col" }, h)),
        ),
      ),
      el(
        "tbody",
        null,
        rows.map((cells) =>
          el(
            "tr",
            null,
            cells.map((cell, i) => {
              const empty = [cell].flat(3).every((c) => !c);
              return i === 0 ? el("th", { scope: "row" }, cell) : el("td", { class: empty ? "empty" : null }, cell);
            }),
          ),
        ),
      ),
    ),
  );
}

/** modelSection describes a named schema. */
export function modelSection(doc, name, schema) {
  const id = `model-${name}`;
  const choice = schema.oneOf ?? schema.anyOf;
  return el(
    "section",
    { class: "operation model", id },
    el("h3", { tabindex: "-1" }, el("a", { href: `#${id}`, class: "self" }, name)),
    prose(schema.description),
    choice ? el("p", null, text("docs.choice", { types: kind(schema) })) : null,
    schema.properties
      ? table(schema, text("docs.fields", { name }))
      : choice
        ? null
        : el("p", null, kind(schema), rules(schema).length ? [": ", rules(schema)] : null),
  );
}
