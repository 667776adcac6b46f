// Who waits to be let in, for plants without mail.

import { html } from "../../vendor/lit-html/lit-html.js";
import { get, post } from "../../shared/api.js";
import { ago, time } from "../../shared/format.js";
import { showSecret } from "../../shared/secret.js";
import { listPage } from "../listpage.js";

export async function open(ctx) {
  const link = async (list, waiting) => {
    const made = await list.run(() => post(`/login-request/${waiting.code}/link`));
    if (!made) return;
    const { link: address, expiresAt } = made.result;
    await showSecret({
      title: `Let ${waiting.email} in`,
      text: address,
      link: true,
      expiresAt,
      intro: html`Hand this to <bdi>${waiting.email}</bdi>, and to nobody else: whoever opens it is signed in as this person (${waiting.role}). Compare the code <strong class="code-large">${waiting.code}</strong> with the one on the waiting screen first.`,
    });
  };
  return listPage(ctx, {
    title: "Pending sign-ins",
    intro: "Requests to sign in whose link was not used yet. Where mail is configured the person has the link already.",
    empty: "Nobody waits.",
    key: (r) => r.code,
    texts: (r) => [r.email, r.code, r.address],
    order: { by: "createdAt", down: true },
    every: 3000,
    load: async () => (await get("/login-request")).results,
    columns: (list) => [
      {
        name: "code",
        label: "Code",
        text: (r) => r.code,
        cell: (r) => html`<strong class="code-large">${r.code}</strong>`,
      },
      { name: "email", label: "Who", text: (r) => r.email },
      { name: "role", label: "Role", text: (r) => r.role },
      { name: "address", label: "Asked from", text: (r) => r.address },
      {
        name: "createdAt",
        label: "Since",
        text: (r) => r.createdAt,
        cell: (r) => html`<span title=${time(r.createdAt, { seconds: true })}>${ago(r.createdAt)}</span>`,
      },
      { name: "expiresAt", label: "Ends", text: (r) => r.expiresAt, cell: (r) => ago(r.expiresAt) },
      {
        name: "actions",
        label: "",
        cell: (r) =>
          html`<button type="button" class="button small" aria-label=${`Show the link for ${r.email}`} @click=${() => link(list, r)}>Show the link</button>`,
      },
    ],
  });
}
