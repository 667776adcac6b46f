// The demo's part of the sign-in page: a button that signs in as its administrator.
import { request } from "../shared/api.js";
import { wireCopy } from "../shared/dom.js";
import { nextPage } from "../shared/next.js";
import { say, text } from "../shared/words.js";

const button = document.getElementById("enter");
const message = document.getElementById("enter-message");
const face = button.textContent;

// The token is made for this press and used at once. Until the example plant has caught up with the present its clock runs
// ahead of links: then another one is made.
async function enter() {
  for (let tries = 0; ; tries++) {
    try {
      const { body } = await request("POST", "/signin/enter", { signIn: false });
      await request("GET", `/auth/callback?token=${encodeURIComponent(body.result.token)}`, { signIn: false });
      return;
    } catch (error) {
      if (tries >= 5 || ![403, 409, 503].includes(error.status)) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 400);
      });
    }
  }
}

button.addEventListener("click", async () => {
  if (button.disabled) return;
  button.disabled = true;
  button.textContent = text("signin.demo.entering");
  message.replaceChildren();
  try {
    await enter();
    location.replace(nextPage(new URL(location.href).searchParams.get("next")));
  } catch (error) {
    button.disabled = false;
    button.textContent = face;
    const box = document.createElement("div");
    box.className = "notice bad";
    box.textContent = text("signin.demo.failed", { reason: say(error.message) });
    message.replaceChildren(box);
  }
});

for (const copy of document.querySelectorAll("[data-copy]"))
  wireCopy(copy, () => document.getElementById(copy.dataset.copy));
