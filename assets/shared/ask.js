// Dialogs that ask for a few values, send them, and show what the service says at the field that it is about.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { openDialog, running, sentence } from "./dialog.js";
import { field } from "./form.js";
import { text } from "./words.js";

/**
 * ask shows fields (see form.js; name, schema, …) for the values of one object, and sends it when the person is done. It gives
 * what send(values) gave, or undefined; also where the dialog was left while it was on its way, since it is done all the same.
 * Where late is given, it is called with what comes then, and nothing is given.
 * fields is called with the values, so that one may depend on another. entered is that of openDialog; changed(values) is called when one of them was changed.
 */
export async function ask({
  title,
  intro,
  values = {},
  fields,
  action = text("shared.save"),
  send,
  entered,
  changed,
  late,
}) {
  const state = { values: { ...values }, problems: {}, error: null, busy: false };
  let sent = null;
  const answer = await openDialog(
    (control) => {
      const submit = async (event) => {
        event.preventDefault();
        if (state.busy) return;
        document.activeElement?.blur?.(); // a field tells its value when it is left
        if (!event.target.reportValidity()) return;
        Object.assign(state, { busy: true, error: null, problems: {} });
        control.update();
        try {
          sent = Promise.resolve(send(state.values)).then((given) => given ?? true);
          control.close(await sent);
        } catch (error) {
          sent = null;
          const known = new Set(fields(state.values).map((f) => f.name));
          state.problems = Object.fromEntries(
            (error.details ?? [])
              .filter((d) => known.has(d.field.split(/[.[]/)[0]))
              .map((d) => [d.field.split(/[.[]/)[0], `${d.field} ${d.issue}`.replace(/^\w+ /, "")]),
          );
          Object.assign(state, { busy: false, error: Object.keys(state.problems).length ? null : error });
          control.tell(error);
        }
      };
      return {
        title,
        body: html`<form id="ask" class="stack" novalidate @submit=${submit}>${intro ? html`<p>${intro}</p>` : nothing}
        ${fields(state.values).map((f) =>
          field({
            ...f,
            id: `ask-${f.name}`,
            value: state.values[f.name],
            problem: state.problems[f.name],
            change: (value) => {
              state.values[f.name] = value;
              changed?.(state.values);
              control.update();
            },
          }),
        )}
        ${state.error ? html`<p class="notice bad" role="alert">${sentence(state.error)}</p>` : nothing}</form>`,
        actions: html`<button type="button" class="button" @click=${() => control.close()}>${state.busy ? running : text("shared.cancel")}</button>
        <button type="submit" form="ask" class="button primary" ?disabled=${state.busy}>${state.busy ? text("shared.sending") : action}</button>`,
      };
    },
    { entered, busy: () => state.busy },
  );
  const given = answer ?? sent?.catch(() => undefined);
  if (answer !== undefined || !late) return given;
  given?.then((came) => came && late(came));
  return undefined;
}

/** clean gives an object without what is null, for requests in which a field may be left out and not be null. */
export const clean = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
