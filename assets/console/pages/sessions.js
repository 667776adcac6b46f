// Where the person is signed in, and how to end it elsewhere.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { del, get } from "../../shared/api.js";
import { now } from "../../shared/clock.js";
import { confirm } from "../../shared/dialog.js";
import { ago, count, time } from "../../shared/format.js";
import { listPage } from "../listpage.js";

export async function open(ctx) {
  const end = (list) =>
    list.run(
      async () => {
        const sure = await confirm({
          title: "Sign out everywhere else?",
          text: "All your other browsers are signed out at once, on this account and others. This one stays. API keys stay too.",
          action: "Sign out",
          danger: true,
        });
        return sure ? (await del("/session?keepthis=true")).result : undefined;
      },
      ({ ended }) => `${count(ended, "session")} ended.`,
    );
  return listPage(ctx, {
    title: "Where you are signed in",
    intro:
      "One line for each browser. An address that you do not know may be a proxy or a phone; when in doubt, sign out everywhere else.",
    empty: "You are signed in nowhere.",
    key: (s) => s.id,
    order: { by: "lastUsedAt", down: true },
    every: 30000,
    load: async () => (await get("/session")).results,
    head: (list) =>
      html`<button type="button" class="button" ?disabled=${list.rows.every((s) => s.current)} @click=${() => end(list)}>Sign out everywhere else</button>`,
    columns: () => [
      {
        name: "address",
        label: "Signed in from",
        text: (s) => s.address,
        cell: (s) =>
          html`<code>${s.address}</code>${s.current ? html` <span class="chip plain">this browser</span>` : nothing}`,
      },
      { name: "accountId", label: "Account", text: (s) => s.accountId },
      {
        name: "lastUsedAt",
        label: "Last used",
        text: (s) => s.lastUsedAt,
        cell: (s) => (s.current ? "now" : html`<span title=${time(s.lastUsedAt)}>${recently(s.lastUsedAt)}</span>`),
      },
      {
        name: "createdAt",
        label: "Since",
        text: (s) => s.createdAt,
        cell: (s) => html`<span title=${time(s.createdAt)}>${ago(s.createdAt)}</span>`,
      },
      {
        name: "expiresAt",
        label: "Ends",
        text: (s) => s.expiresAt,
        cell: (s) => html`<span title=${time(s.expiresAt)}>${ago(s.expiresAt)}</span>`,
      },
    ],
  });
}

const hour = 3600000; // milliseconds; the service notes no more than the hour

const recently = (at) => (now() - Date.parse(at) < hour ? "within the hour" : ago(at));
