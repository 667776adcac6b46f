// Users of the account and their roles.

import { html } from "../../vendor/lit-html/lit-html.js";
import { del, get, post, put } from "../../shared/api.js";
import { ask } from "../../shared/ask.js";
import { confirm } from "../../shared/dialog.js";
import { ago, count, time } from "../../shared/format.js";
import { propertyOf, schemas } from "../../shared/schema.js";
import { listPage } from "../listpage.js";

const means = {
  admin: "everything, the appliance too",
  member: "changes the configuration",
  supervisor: "runs the floor",
  operator: "acts on the stations of a tablet",
  readonly: "reads",
};
const roles = Object.entries(means).map(([value, text]) => ({ value, label: `${value}: ${text}` }));

export async function open(ctx) {
  const all = await schemas();
  const mine = ctx.profile.email;
  const add = (list) =>
    list.run(
      () =>
        ask({
          title: "Add a user",
          action: "Add",
          values: { role: "readonly" },
          send: (values) => post("/user", values),
          intro: `Whoever has an address of the account's domain may sign in and read. Add those who may do more, and those of other domains.`,
          fields: () => [
            {
              name: "email",
              label: "E-mail address",
              schema: propertyOf(all, "UserCreate", "email"),
              required: true,
              autofocus: true,
            },
            {
              name: "role",
              label: "Role",
              schema: propertyOf(all, "UserCreate", "role"),
              options: roles,
              required: true,
            },
          ],
        }),
      "The user is added.",
    );
  const change = (list, user) =>
    list.run(
      () =>
        ask({
          title: user.email,
          action: "Change",
          values: { role: user.role },
          intro: "The role counts at once, for every session and key of this person.",
          send: (values) => put(`/user/${encodeURIComponent(user.email)}`, values),
          fields: () => [{ name: "role", label: "Role", schema: {}, options: roles, required: true }],
        }),
      "The role is changed.",
    );
  const remove = (list, user) =>
    list.run(async () => {
      const sure = await confirm({
        title: `Remove ${user.email}?`,
        action: "Remove",
        danger: true,
        text: `${user.email === mine ? "This is you: you are signed out at once. " : ""}All sessions and API keys of this person end at once. The address is refused until it is added again.`,
      });
      if (!sure) return undefined;
      await del(`/user/${encodeURIComponent(user.email)}`);
      return true;
    }, "The user is removed.");
  const signOut = (list, user) =>
    list.run(
      async () => {
        const sure = await confirm({
          title: `Sign ${user.email} out?`,
          action: "Sign out",
          danger: true,
          text: `${user.email === mine ? "This is you: you sign in again afterwards. " : ""}Every browser of this person is signed out of the account at once. API keys stay, and the person may sign in again.`,
        });
        return sure ? (await del(`/user/${encodeURIComponent(user.email)}/session`)).result : undefined;
      },
      ({ ended }) => (ended ? `${count(ended, "session")} ended.` : "The person was signed in nowhere."),
    );
  return listPage(ctx, {
    title: "Users",
    empty: "Nobody was added yet.",
    key: (user) => user.email,
    texts: (user) => [user.email, user.role],
    order: { by: "email" },
    load: async () => (await get("/user")).results,
    head: (list) => html`<button type="button" class="button primary" @click=${() => add(list)}>Add a user</button>`,
    columns: (list) => [
      {
        name: "email",
        label: "E-mail address",
        text: (user) => user.email,
        cell: (user) =>
          html`<bdi class="wrap">${user.email}</bdi>${user.email === mine ? html` <span class="chip plain">you</span>` : ""}`,
      },
      {
        name: "role",
        label: "Role",
        text: (user) => user.role,
        cell: (user) => html`${user.role}<br><span class="muted small">${means[user.role]}</span>`,
      },
      {
        name: "createdAt",
        label: "Added",
        text: (user) => user.createdAt,
        cell: (user) =>
          html`<time datetime=${user.createdAt} title=${time(user.createdAt)}>${ago(user.createdAt)}</time>`,
      },
      {
        name: "actions",
        label: "",
        cell: (
          user,
        ) => html`<div class="row actions"><button type="button" class="button small" aria-label=${`Change role of ${user.email}`} @click=${() => change(list, user)}>Change role</button>
        <button type="button" class="button small" aria-label=${`Sign out ${user.email} everywhere`} @click=${() => signOut(list, user)}>Sign out</button>
        <button type="button" class="button small" aria-label=${`Remove ${user.email}`} @click=${() => remove(list, user)}>Remove</button></div>`,
      },
    ],
  });
}
