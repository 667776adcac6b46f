// The operator's tablet.

import { html, render } from "../vendor/lit-html/lit-html.js";
import { install, recall } from "./offline.js";
import { queue } from "./queue.js";

const root = document.body.appendChild(document.createElement("main"));
const draw = () => render(html`<h1>Tablet</h1><p role="status">${queue.waiting.length === 0 ? "Everything is sent." : `${queue.waiting.length} wait to be sent.`}</p>`, root);

queue.addEventListener("change", draw);
draw();
const { body } = await recall("/auth/profile");
await queue.open(body.result);
install(() => true);
