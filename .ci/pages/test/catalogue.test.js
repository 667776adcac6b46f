import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { parse as parseScript } from "espree";
import { parse as parseMessage } from "../../../assets/vendor/@formatjs/icu-messageformat-parser/index.js";

const assets = new URL("../../../assets/", import.meta.url);
const read = (name) => readFileSync(new URL(name, assets), "utf8");

// What still has texts of its own. A folder's or file's line goes when its texts stand in the catalogue; none is added.
const notYet = [
  "console/",
  "floor/pages/schedules.js",
  "floor/pages/stops.js",
  "floor/schedules/",
  "floor/stops/",
  "shared/cells.js",
  "shared/explain/",
  "shared/format.js",
  "shared/shell.js",
  "shared/terms.js",
  "shared/workspace.js",
  "shared/zone.js",
  "tablet/",
];

const files = readdirSync(assets, { recursive: true })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.(js|html)$/.test(name) && !/^(vendor|vendoring|words)\//.test(name));
const whole = ["docs/help/", "trust/"]; // instructions, which are translated as a whole
const converted = files.filter((name) => ![...whole, ...notYet].some((one) => name.startsWith(one)));

/** walk calls visit with each node of a syntax tree and the nodes around it, the nearest one last. */
function walk(node, visit, around = []) {
  visit(node, around);
  for (const [name, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child?.type === "string") {
        child.role = name;
        walk(child, visit, [...around, node]);
      }
  }
}

const scripts = new Map(
  files
    .filter((name) => name.endsWith(".js"))
    .map((name) => [name, parseScript(read(name), { ecmaVersion: 2024, sourceType: "module", loc: true })]),
);

// ---- the catalogues

const catalogues = new Map(
  readdirSync(new URL("words/en/", assets)).map((name) => [
    name.replace(".json", ""),
    JSON.parse(read(`words/en/${name}`)),
  ]),
);

/** argumentsOf lists the arguments and tags of a message. */
function argumentsOf(parts, found = new Set()) {
  for (const part of parts) {
    if (part.type !== 0 && part.type !== 7) found.add(part.value); // neither literal text nor #
    for (const option of Object.values(part.options ?? {})) argumentsOf(option.value, found);
    if (part.children) argumentsOf(part.children, found);
  }
  return found;
}

const messages = new Map();
for (const [name, texts] of catalogues)
  for (const [key, text] of Object.entries(texts))
    messages.set(key, { catalogue: name, takes: argumentsOf(parseMessage(text)) });

test("keys begin with the name of their catalogue, and texts are trimmed", () => {
  for (const [name, texts] of catalogues)
    for (const [key, text] of Object.entries(texts)) {
      assert.match(key, new RegExp(`^${name}(\\.[a-z][A-Za-z0-9]*)+$`));
      assert.ok(text && text === text.trim(), key);
    }
});

/** keysOf lists the keys that an argument may be; what is not written as a key is null, and a key with gaps a pattern. */
function keysOf(node) {
  if (node.type === "Literal") return [node.value];
  if (node.type === "ConditionalExpression") return [...keysOf(node.consequent), ...keysOf(node.alternate)];
  if (node.type !== "TemplateLiteral") return [null];
  const pattern = new RegExp(
    `^${node.quasis.map((part) => RegExp.escape?.(part.value.raw) ?? part.value.raw.replaceAll(".", "\\.")).join("[A-Za-z0-9]+")}$`,
  );
  const found = [...messages.keys()].filter((key) => pattern.test(key));
  return found.length ? found : [String(pattern)];
}

/** takesTexts reports whether a script imports text of the catalogue. */
const takesTexts = (tree) =>
  tree.body.some(
    (node) =>
      node.type === "ImportDeclaration" &&
      node.source.value.endsWith("/words.js") &&
      node.specifiers.some((one) => one.local.name === "text"),
  );

test("scripts and pages use texts that are there, with their arguments, and no text is unused", () => {
  const used = new Set();
  const use = (key, where) => {
    assert.ok(messages.has(key), `${where}: no text ${key}`);
    const { catalogue } = messages.get(key);
    assert.ok(catalogue === "shared" || where.startsWith(`${catalogue}/`), `${where}: ${key} is another page's`);
    used.add(key);
    return messages.get(key).takes;
  };
  for (const [name, tree] of scripts) {
    if (!takesTexts(tree) && name !== "shared/words.js") continue;
    walk(tree, (node) => {
      if (node.type !== "CallExpression" || node.callee.name !== "text") return;
      const where = `${name}:${node.loc.start.line}`,
        [key, given] = node.arguments;
      for (const one of keysOf(key)) {
        assert.ok(one, `${where}: a key is written where it is used`);
        const takes = [...use(one, where)].sort();
        const gives = (given?.properties ?? []).map((property) => property.key.name ?? property.key.value).sort();
        assert.deepEqual(gives, takes, `${where}: the arguments of ${one}`);
      }
    });
  }
  for (const name of files.filter((file) => file.endsWith(".html")))
    for (const [, key] of read(name).matchAll(/\{\{words "([^"]+)"\}\}/g)) use(key, name);
  assert.deepEqual(
    [...messages.keys()].filter((key) => !used.has(key)),
    [],
  );
});

/** bindsText reports whether a pattern, such as a parameter, declares the name text. */
function bindsText(pattern) {
  if (!pattern) return false;
  switch (pattern.type) {
    case "Identifier":
      return pattern.name === "text";
    case "AssignmentPattern":
      return bindsText(pattern.left);
    case "RestElement":
      return bindsText(pattern.argument);
    case "ArrayPattern":
      return pattern.elements.some(bindsText);
    case "ObjectPattern":
      return pattern.properties.some((property) => bindsText(property.value ?? property.argument));
  }
  return false;
}

test("what is called as text is the catalogue's, and not a variable of that name", () => {
  const found = [];
  for (const [name, tree] of scripts) {
    if (!takesTexts(tree)) continue;
    walk(tree, (node, around) => {
      if (node.type !== "CallExpression" || node.callee.name !== "text") return;
      const hidden = around.some(
        (outer) =>
          outer.params?.some(bindsText) ||
          bindsText(outer.param) ||
          (Array.isArray(outer.body) ? outer.body : []).some(
            (statement) =>
              outer.type !== "Program" &&
              (statement.type === "VariableDeclaration"
                ? statement.declarations.some((one) => bindsText(one.id))
                : statement.type === "FunctionDeclaration" && bindsText(statement.id)),
          ) ||
          (outer.type.startsWith("For") && (outer.init ?? outer.left)?.declarations?.some((one) => bindsText(one.id))),
      );
      if (hidden) found.push(`${name}:${node.loc.start.line}`);
    });
  }
  assert.deepEqual(found, []);
});

// ---- texts outside of them

const ours = /\b(opsmon)\b/g; // the product's name is the same in every language
const shown = "(?:aria-label|aria-description|alt|title|placeholder|label|content)";
const letters = /\p{L}{2}/u;

/** literalsOf lists the texts in markup: what stands between tags, and in attributes that people read. */
function literalsOf(markup) {
  const plain = markup
    .replace(/\{\{[^}]*\}\}/g, "")
    .replace(/<!--[^]*?-->/g, "")
    .replace(/<meta\b[^>]*>/g, "")
    .replace(ours, "");
  const between = plain.replace(/<!?\/?[a-z](?:"[^"]*"|'[^']*'|[^>"'])*>/gi, "\n").split("\n");
  const inside = [...plain.matchAll(new RegExp(`\\s${shown}="([^"]*)"`, "g"))].map((match) => match[1]);
  return [...between, ...inside].map((text) => text.trim()).filter((text) => letters.test(text));
}

const code = new Set([
  "startsWith",
  "querySelector",
  "querySelectorAll",
  "closest",
  "matches",
  "getElementById",
  "addEventListener",
  "createElement",
]);
const codeToo = new Set([
  "fetch",
  "matchMedia",
  "request",
  "Error",
  "Event",
  "text",
  "get",
  "has",
  "error",
  "info",
  "warn",
  "test",
]);
const named = new Set(["class", "className", "name", "type", "id", "cache", "method", "font", "media", "schema"]); // properties that nobody reads

/** unread reports whether a string is for programs: a name, a selector, a header, a class. */
function unread(node, around) {
  const parent = around.at(-1);
  if (node.role === "source" || node.role === "key" || node.role === "test") return true;
  if (parent.type === "BinaryExpression" && /^([!=]==?|in)$/.test(parent.operator)) return true;
  if (/^(-[A-Z] |app [a-z]+-[a-z]+ |app status$)/.test(node.value ?? node.quasis?.[0].value.cooked)) return true; // a command, or its option
  if (parent.type === "SwitchCase" || parent.type === "MemberExpression") return true;
  return around.some((outer, at) => {
    const inner = around[at + 1] ?? node;
    if (outer.type === "CallExpression" || outer.type === "NewExpression") {
      const called = outer.callee.property?.name ?? outer.callee.name;
      return inner.role === "arguments" && (code.has(called) || codeToo.has(called));
    }
    if (outer.type === "Property" && inner.role === "value")
      return (
        named.has(outer.key.name ?? outer.key.value) ||
        /^[A-Z][a-z]+-|^headers$/.test(outer.key.name ?? outer.key.value)
      );
    if (outer.type === "AssignmentExpression" && inner.role === "right") return named.has(outer.left.property?.name);
    if (outer.type === "TemplateLiteral" && inner.role === "expressions") {
      const before = outer.quasis[outer.expressions.indexOf(inner)].value.raw;
      return /\b(class|id|for|href|type|autocomplete)="?[^"<>]*$/.test(before); // in an attribute
    }
    return false;
  });
}

const sentence = /\p{L}+[,:]? \p{L}|^\p{Lu}\p{Ll}|\p{L} …/u;

function literalsOfScript(name) {
  const found = [];
  walk(scripts.get(name), (node, around) => {
    const say = (text) => found.push(`${name}:${node.loc.start.line}: ${text}`);
    if (node.type === "TaggedTemplateExpression" && ["html", "svg"].includes(node.tag.name)) {
      literalsOf(node.quasi.quasis.map((part) => part.value.cooked).join("0")).forEach(say);
    } else if (node.type === "TemplateLiteral" && around.at(-1).type !== "TaggedTemplateExpression") {
      const text = node.quasis.map((part) => part.value.cooked).join("0");
      if (sentence.test(text) && !unread(node, around)) say(text);
    } else if (
      node.type === "Literal" &&
      typeof node.value === "string" &&
      sentence.test(node.value.replace(ours, ""))
    ) {
      if (!unread(node, around)) say(node.value);
    }
  });
  return found;
}

test("no text of the pages stands outside the catalogues", () => {
  const found = converted.flatMap((name) =>
    name.endsWith(".html") ? literalsOf(read(name)).map((text) => `${name}: ${text}`) : literalsOfScript(name),
  );
  assert.deepEqual(found, []);
});

test("what has texts of its own still is there", () => {
  const texts = (name) => (name.endsWith(".html") ? literalsOf(read(name)) : literalsOfScript(name));
  const done = notYet.filter((one) => !files.some((name) => name.startsWith(one) && texts(name).length));
  assert.deepEqual(done, [], "their texts are in the catalogue: take them out of the list");
});

test("the search for texts finds them", () => {
  assert.deepEqual(literalsOf('<p class="a b">One two <b title="Three">{{.Four}}</b></p>'), ["One two", "Three"]);
  assert.deepEqual(literalsOf('<p aria-hidden="true">0 · opsmon</p>'), []);
});
