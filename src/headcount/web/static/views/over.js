// What lies over the page: the question before something is done, and the list of keys.
//
// Rules
//   1. The browser's own modal dialog: nothing behind it can be reached by key, pointer or reader while it is open.
//   2. "Leave it" has the focus, so that Enter by habit does nothing; Escape leaves too. Afterwards the focus is back
//      where it was.
//
// Not here: what is asked (the views), what is done then (acting.js).

import { act } from "../acting.js";
import { Component, html } from "../dom.js";
import { change, state } from "../state.js";

const HELP = [["j k", "down, up"], ["n", "next that needs me"], ["Enter", "open"], ["/", "filter"], ["1 – 5", "views"], ["+ − ← →", "zoom, move (timeline)"], ["Esc", "back, let go"], ["?", "this"]];

const leave = () => change({ dialog: null, help: false });

class Modal extends Component {
  componentDidMount() {
    this.before = document.activeElement;
    this.base.showModal();
    this.base.querySelector("button").focus();
  }

  componentWillUnmount() {
    this.base.close();
    if (this.before?.isConnected) this.before.focus();
  }

  render({ role, label, children }) {
    const beside = (event) => { if (event.target === this.base) leave(); };
    return html`<dialog class="dialog" role=${role} aria-label=${label} onCancel=${(event) => { event.preventDefault(); leave(); }} onClick=${beside}>${children}</dialog>`;
  }
}

function keys() {
  return html`<${Modal} key="help" role="dialog" label="Keys"><h2>Keys</h2>
    <dl class="keys">${HELP.map(([key, word]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${word}</dd></div>`)}</dl>
    <p class="choice"><button onClick=${leave}>Close</button></p></${Modal}>`;
}

export function over() {
  if (state.help) return keys();
  const asked = state.dialog;
  if (!asked) return null;
  return html`<${Modal} key="asked" role="alertdialog" label=${asked.title}><h2>${asked.title}?</h2>
    ${asked.lines.map((line) => html`<p>${line}</p>`)}<p class="note">The same by hand: <code>${asked.command}</code></p>
    <p class="choice"><button id="no" onClick=${leave}>Leave it</button> <button class="danger" onClick=${() => act(asked.doing)}>${asked.word}</button></p></${Modal}>`;
}
