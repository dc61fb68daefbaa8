// Keys: the whole page by keyboard.
//
// Rules
//   1. Keys with Ctrl, Alt or Meta are the browser's. In a text field only Escape is ours.
//   2. The selected row is the focused one; moving holds the order of the list.
//
// Not here: what a view shows.

import { say } from "./acting.js";
import { AT_ONCE, change, hold, letGo, state } from "./state.js";
import { shift, zoom } from "./views/timeline.js";
import { groupOf } from "./words.js";

const VIEWS = { 1: "board", 2: "timeline", 3: "claims", 4: "leftovers", 5: "today" };

const rows = () => [...document.querySelectorAll("main [data-session] > a")].filter((each) => each.offsetParent !== null);

export function focusRow(link) {
  if (!link) return;
  link.focus();
  link.scrollIntoView({ block: "nearest" });
  change({ selected: link.parentElement.dataset.session });
}

function step(by) {
  hold();
  const all = rows();
  const at = all.findIndex((each) => each.parentElement.dataset.session === state.selected);
  focusRow(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))]);
}

// On the board: at once when it is shown, else when it was drawn.
function onBoard(doing) {
  if (state.view === "board") { doing(); return; }
  state.then = { view: "board", doing };
  location.hash = "#/board";
}

// The next one that needs its user, after the selected one and around.
function nextNeeding() {
  hold();
  const needing = rows().filter((each) => groupOf(state.sessions.get(each.parentElement.dataset.session) || {}) === "needs you");
  const at = needing.findIndex((each) => each.parentElement.dataset.session === state.selected);
  if (needing.length) focusRow(needing[(at + 1) % needing.length]);
  else say("Nobody needs you.");
}

function leave(event) {
  if (state.dialog || state.help) { change({ dialog: null, help: false }); event.preventDefault(); }
  else if (event.target.id === "filter") { change({ filter: "", most: AT_ONCE }); event.target.blur(); }
  else if (state.held) letGo();
  else if (state.filter) change({ filter: "", most: AT_ONCE });
  else if (state.view !== "board") location.hash = "#/board";
  change({ tip: null, notice: null });
}

const KEYS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  n: () => onBoard(nextNeeding),
  "/": () => onBoard(() => document.getElementById("filter")?.focus()),
  "?": () => change({ help: !state.help }),
  "+": () => state.view === "timeline" && zoom(0.5), "-": () => state.view === "timeline" && zoom(2),
  ArrowLeft: () => state.view === "timeline" && shift(-0.5), ArrowRight: () => state.view === "timeline" && shift(0.5),
};

export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") { leave(event); return; }
    const typing = event.target.matches("input, textarea, select");
    if (typing && event.key === "Enter" && event.target.id === "filter") { focusRow(rows()[0]); event.preventDefault(); }
    if (typing || state.dialog || (state.help && event.key !== "?")) return;
    if (VIEWS[event.key]) location.hash = `#/${VIEWS[event.key]}`;
    const does = KEYS[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  document.addEventListener("mousemove", (event) => { if (state.held && event.target.closest?.(".rows")) hold(); });
}
