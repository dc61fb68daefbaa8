// State: what this tab knows and what it looks at. One value, changed here, drawn by app.js.
//
// Rules
//   1. Nothing about a session is decided here.
//   2. While somebody moves through the list its order is held: rows change in place, none moves.
//
// Not here: what comes in (hearing.js), what is done (acting.js), words and order (words.js), drawing (views/).

import { groupOf, inOrder, sinceOf } from "./words.js";

const HELD_FOR = 8000;
export const AT_ONCE = 60; // rows drawn in one frame

export const state = {
  sessions: new Map(),
  ended: new Map(),
  connection: "connecting", // live, lost
  lostAt: 0,
  login: "checking", // in, needed
  loginWhy: "",
  now: Date.now() / 1000,
  view: "board",
  of: null, // the session that is looked at
  filter: "",
  most: AT_ONCE, // rows drawn at once; the rest follow frame by frame, so that no frame is long
  selected: null,
  held: null, // while the order is held: the rows as they were placed
  heldUntil: 0,
  openGroups: new Set(),
  claims: null,
  history: null,
  leftovers: null,
  fleet: null,
  roster: null, // the sessions of all hosts of the fleet, while that is looked at
  today: null,
  timeline: null,
  range: 7200,
  ranged: false, // whether somebody, or a short past, has chosen how much time is shown
  until: null, // null: now
  detail: null,
  dialog: null,
  help: false,
  notice: null, // { text, bad }
  noticeUntil: 0,
  tip: null,
  arrived: false, // at another view, and nothing of it was focused yet
  then: null, // what a key wanted to do in a view that is not drawn yet: { view, doing }
};

let draw = () => {};
let due = false;

export function drawWith(drawing) {
  draw = drawing;
}

export function change(changing) {
  Object.assign(state, typeof changing === "function" ? changing(state) : changing);
  if (due) return;
  due = true;
  const go = () => { due = false; draw(); };
  if (document.hidden) setTimeout(go, 250);
  else requestAnimationFrame(go);
}

// --- what is looked at ---------------------------------------------------------------------------

const texts = new WeakMap();

export function matches(raw, filter) {
  if (!filter) return true;
  if (!texts.has(raw)) texts.set(raw, textOf(raw));
  const all = texts.get(raw);
  return filter.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

function textOf(raw) {
  const text = [raw.id, raw.name, raw.agent, raw.cwd, raw.repo, raw.branch, raw.doing, raw.activity, raw.waiting_on, raw.role, raw.where, groupOf(raw)];
  return text.filter(Boolean).join(" ").toLowerCase();
}

// Of this day, where this tab is.
export const midnight = () => Math.floor(new Date().setHours(0, 0, 0, 0) / 1000);

// The rows as they are placed: by the order of the table, or as they were while it is held.
export function placed() {
  const today = midnight();
  const ended = [...state.ended.values()].filter((raw) => (sinceOf(raw) ?? today) >= today);
  const fresh = inOrder([...state.sessions.values(), ...ended], state.now);
  if (!state.held) return fresh;
  const now = new Map(fresh.map((each) => [each.raw.id, each]));
  const kept = state.held.filter((each) => now.has(each.id)).map((each) => ({ ...now.get(each.id), group: each.group }));
  const known = new Set(state.held.map((each) => each.id));
  return [...kept, ...fresh.filter((each) => !known.has(each.raw.id))];
}

export function hold() {
  if (!state.held) state.held = placed().map((each) => ({ id: each.raw.id, group: each.group }));
  change({ heldUntil: Date.now() + HELD_FOR });
}

export function letGo() {
  change({ held: null, heldUntil: 0 });
}

export function tick() {
  if (state.held && Date.now() > state.heldUntil) state.held = null;
  if (state.notice && Date.now() > state.noticeUntil) state.notice = null;
  change({ now: Date.now() / 1000 });
}
