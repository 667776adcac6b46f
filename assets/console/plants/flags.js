// Features: flags that are on, off, or as the level above has them.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { cut } from "../../shared/brief.js";
import { segmented } from "../../shared/form.js";
import { propertyOf } from "../../shared/schema.js";
import { labelOf, wordOf } from "../../shared/terms.js";
import { setFields } from "./edit.js";
import { kindSchema } from "./fields.js";
import { flagsOf, groupFlags } from "./resolve.js";
import { flagOf } from "./tree.js";

export const flagChoices = [
  { value: "inherit", label: "Inherit" },
  { value: "on", label: "On" },
  { value: "off", label: "Off" },
];

/** ownFlag gives what a node itself says of a flag: on, off or inherit. */
export const ownFlag = (item, name) => (item?.[name] === "on" || item?.[name] === "off" ? item[name] : "inherit");

/** inheritedFlag tells in words what a flag is where a node says nothing of it. */
export function inheritedFlag(node, name, account) {
  const { value, from, node: at } = flagOf(node.above, name, groupFlags.includes(name) ? null : account);
  return {
    value,
    text:
      from === "default"
        ? `${wordOf(value)} by default`
        : from === "account"
          ? `${wordOf(value)} from the account`
          : `${wordOf(value)} from ${from} ${cut(at.name)}`,
  };
}

/** flagsForm shows the flags that can be set at a node. */
export function flagsForm(ctx, schemas, node) {
  const { account } = ctx.workspace.doc;
  return html`<section class="card stack" aria-label="Features"><div><h2>Features</h2><p class="muted small">What inherits follows the ${node.kind === "station" ? "group, the plant and then the account" : node.kind === "group" ? "plant and then the account" : "account"}.</p></div>
    <ul class="flags">${flagsOf(node).map((name) => {
      const value = ownFlag(node.item, name),
        above = inheritedFlag(node, name, account);
      const problem = ctx.workspace.problem([...node.path, name]);
      return html`<li class=${problem ? "bad" : ""}><div class="flag-name"><strong>${labelOf(name)}</strong><span class="muted small">${propertyOf(schemas, kindSchema[node.kind], name).description}</span></div>
        <div class="flag-value">${segmented({
          name: `flag-${name}`,
          label: labelOf(name),
          value,
          options: flagChoices,
          disabled: ctx.workspace.readOnly,
          change: (next) =>
            ctx.workspace.edit((doc) =>
              setFields(doc, ctx.workspace.base, [node], { [name]: next === "inherit" ? null : next }),
            ),
        })}<span class="small muted" dir="auto">${value === "inherit" ? above.text : `instead of ${above.text}`}</span></div>
        ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}</li>`;
    })}</ul></section>`;
}
