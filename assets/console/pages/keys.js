// API keys: one's own, and for administrators the account's.

import { html } from "../../vendor/lit-html/lit-html.js";
import { del, get, post } from "../../shared/api.js";
import { ask, clean } from "../../shared/ask.js";
import { confirm } from "../../shared/dialog.js";
import { ago, time } from "../../shared/format.js";
import { propertyOf, schemas } from "../../shared/schema.js";
import { showSecret } from "../../shared/secret.js";
import { atLeast } from "../../shared/roles.js";
import { listPage } from "../listpage.js";

const roles = ["readonly", "operator", "supervisor", "member", "admin"];

export async function open(ctx) {
  const all = await schemas();
  const create = async (list) => {
    const made = await list.run(() =>
      ask({
        title: "Make an API key",
        action: "Make the key",
        values: { role: "readonly" },
        intro: "A program that has the key acts as you, with at most this role. Give each program a key of its own.",
        send: ({ expiresAt: day, ...values }) =>
          post("/key", clean({ ...values, expiresAt: day && new Date(`${day}T23:59:59`).toISOString() })),
        fields: () => [
          { name: "name", label: "What it is for", schema: propertyOf(all, "KeyCreate", "name"), autofocus: true },
          {
            name: "role",
            label: "Role",
            schema: propertyOf(all, "KeyCreate", "role"),
            options: roles.filter((role) => atLeast(ctx.profile.role, role)).map((value) => ({ value, label: value })),
            required: true,
          },
          {
            name: "expiresAt",
            label: "Last day",
            kind: "date",
            schema: {},
            hint: "Without one it works until it is revoked.",
          },
        ],
      }),
    );
    if (made)
      await showSecret({
        title: "The new API key",
        text: made.result.key,
        intro: "Copy it to where it is needed. It goes into the header X‑API‑KEY.",
      });
  };
  const revoke = (list, key) =>
    list.run(async () => {
      if (
        !(await confirm({
          title: `Revoke “${key.name || key.id}”?`,
          text: "Whatever uses the key is refused at once. It cannot be taken back.",
          action: "Revoke",
          danger: true,
        }))
      )
        return undefined;
      await del(`/key/${key.id}`);
      return true;
    }, "The key is revoked.");
  return listPage(ctx, {
    title: "API keys",
    intro: ctx.can("admin") ? "All keys of the account." : "Your keys.",
    empty: "There is no key.",
    texts: (key) => [key.name, key.email, key.role, key.id],
    key: (key) => key.id,
    order: { by: "createdAt", down: true },
    load: async () => (await get("/key")).results,
    head: (list) =>
      html`<button type="button" class="button primary" @click=${() => create(list)}>Make an API key</button>`,
    columns: (list) => [
      {
        name: "name",
        label: "For",
        text: (key) => key.name,
        cell: (key) => html`<span dir="auto">${key.name || "–"}</span><br><code class="muted small">${key.id}</code>`,
      },
      { name: "email", label: "Whose", text: (key) => key.email },
      { name: "role", label: "Role", text: (key) => key.role },
      {
        name: "lastUsedAt",
        label: "Last used",
        text: (key) => key.lastUsedAt ?? "",
        cell: (key) => html`<span title=${time(key.lastUsedAt)}>${ago(key.lastUsedAt)}</span>`,
      },
      {
        name: "expiresAt",
        label: "Ends",
        text: (key) => key.expiresAt ?? "~",
        cell: (key) =>
          key.expiresAt ? html`<span title=${time(key.expiresAt)}>${ago(key.expiresAt)}</span>` : "never",
      },
      {
        name: "createdAt",
        label: "Made",
        text: (key) => key.createdAt,
        cell: (key) => html`<span title=${time(key.createdAt)}>${ago(key.createdAt)}</span>`,
      },
      {
        name: "actions",
        label: "",
        cell: (key) =>
          html`<button type="button" class="button small" aria-label=${`Revoke ${key.name || key.id}`} @click=${() => revoke(list, key)}>Revoke</button>`,
      },
    ],
  });
}
