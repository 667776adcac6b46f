// Dialogs and short messages. A dialog is the browser's own: it keeps the focus, Escape closes it, and the page below rests.

import { say, text } from "./words.js";
import { html, render, nothing } from "../vendor/lit-html/lit-html.js";

/**
 * openDialog shows a dialog and gives a promise of what it is closed with; undefined when it is left. content gets
 * {close(value), update(), tell(error)} and gives {title, body, actions}; it is called again at each update. tell updates as well, and
 * tells the error itself where the dialog was left already. Where entered is given, the
 * dialog asks before it is left without a value when something was typed in it, or entered() tells of something else. Instead, unsaved() may give what confirm is to ask, or null.
 * While busy() it is left without a question: what was typed is on its way.
 */
export function openDialog(content, { wide = false, entered, unsaved, busy } = {}) {
  const before = document.activeElement;
  const dialog = document.createElement("dialog");
  dialog.className = wide ? "dialog wide" : "dialog";
  dialog.setAttribute("aria-labelledby", "dialog-title");
  document.body.append(dialog);
  return new Promise((done) => {
    let value,
      typed = false;
    const unsent = () => !busy?.() && (unsaved ? unsaved() : Boolean(entered) && (typed || entered()));
    const leave = async () => {
      if (await (unsaved ? confirm(unsaved()) : discard())) dialog.close();
    };
    const escape = (event) => {
      // by hand: the browser's own may close a question and what it asks about at once
      if (event.defaultPrevented || event.isComposing || (event.target !== dialog && event.type === "cancel")) return;
      event.preventDefault();
      control.close();
    };
    dialog.addEventListener("input", ({ target }) => {
      typed ||= target.matches("textarea, input:not([type=search])");
    });
    dialog.addEventListener("cancel", escape);
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "Escape") escape(event);
    });
    const control = {
      close: (given) => {
        if (given === undefined && unsent()) {
          leave();
          return;
        }
        value = given;
        dialog.close();
      },
      update: () => show(),
      tell: (error) => (dialog.open ? show() : toast(sentence(error), "bad")),
      element: dialog,
    };
    const show = () => {
      const { title, body, actions } = content(control);
      render(
        html`
        <header><h2 id="dialog-title">${title}</h2><button type="button" class="icon-button" aria-label=${text("shared.close")} @click=${() => control.close()}>✕</button></header>
        <div class="dialog-body">${body}</div>
        ${actions ? html`<footer>${actions}</footer>` : nothing}`,
        dialog,
      );
      const middle = dialog.querySelector(".dialog-body"); // without anything to focus it is itself, so that keys can scroll it
      middle.tabIndex = middle.querySelector("a[href], button, input, select, textarea") ? -1 : 0;
    };
    show();
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus?.();
      if (document.activeElement === document.body) document.querySelector("main")?.focus({ preventScroll: true }); // what opened it is gone
      done(value);
    });
    dialog.showModal();
    dialog.querySelector("[autofocus]")?.focus();
  });
}

/** running is what the button says that leaves a dialog whose content is being sent: it does not call that back. */
export const running = text("shared.dialog.running");

/** discard asks whether what was entered is to be thrown away, and gives a promise of true or false. */
export const discard = () =>
  confirm({
    title: text("shared.discard.title"),
    text: text("shared.discard.text"),
    action: text("shared.discard.action"),
    danger: true,
  });

/** confirm asks before something that is hard to take back, and gives a promise of true or false. */
export const confirm = ({ title, text: question, action = text("shared.confirm.action"), danger = false }) =>
  openDialog(({ close }) => ({
    title,
    body: typeof question === "string" ? html`<p>${question}</p>` : question,
    actions: html`<button type="button" class="button" @click=${() => close(false)}>${text("shared.cancel")}</button>
    <button type="button" autofocus class=${danger ? "button danger" : "button primary"} @click=${() => close(true)}>${action}</button>`,
  })).then(Boolean);

/** attempt does something for a person, and tells what went wrong: it gives what work gave, or undefined. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") toast(sentence(error), "bad");
    return undefined;
  }
}

/** toast tells in a few words what happened, and goes by itself. kind: "ok" or "bad"; a bad one stays until it is closed. */
export function toast(message, kind = "ok") {
  let area = document.getElementById("toasts");
  if (!area) {
    area = Object.assign(document.createElement("div"), { id: "toasts", popover: "manual" });
    area.setAttribute("role", "status");
    area.setAttribute("aria-live", "polite");
    document.body.append(area);
  }
  const box = document.createElement("div");
  box.className = `toast ${kind}`;
  const gone = () => {
    box.remove();
    if (!area.childElementCount) area.hidePopover();
  };
  render(
    html`<span>${message}</span><button type="button" class="icon-button" aria-label=${text("shared.close")} @click=${gone}>✕</button>`,
    box,
  );
  area.append(box);
  area.hidePopover(); // shown again it stands above a dialog that was opened meanwhile
  area.showPopover();
  if (kind !== "bad") setTimeout(gone, 5000);
}

/** sentence makes an error's message one that starts with a capital and ends with a full stop. */
export const sentence = (error) => say(String(error?.message ?? error));
