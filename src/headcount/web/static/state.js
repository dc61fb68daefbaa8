// State: what this tab knows and what it looks at. One value, changed here, drawn by app.js.
//
// Rules of this file
//   1. Sessions are what the stream says; nothing about them is decided here.
//   2. While somebody moves through the list its order is held: rows change in place, none moves.
//   3. What is asked for beside the stream (claims, leftovers, time) is asked again when an event touches it.
//
// Not here: words and order (words.js), drawing (views/), the connection (stream.js).

import { ask, askIfThere, Refused } from "./wire.js";
import { groupOf, inOrder, quoted, seconds } from "./words.js";

const HELD_FOR = 8000, HIDDEN_AFTER = 86400, ENDED_MOST = 300;

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
  most: 100, // rows drawn at once; the rest follow frame by frame, so that no frame is long
  selected: null,
  held: null, // while the order is held: the rows as they were placed
  heldUntil: 0,
  openGroups: new Set(),
  claims: null,
  history: null,
  leftovers: null,
  fleet: null,
  today: null,
  timeline: null,
  range: 7200,
  until: null, // null: now
  detail: null,
  dialog: null,
  help: false,
  notice: null,
  tip: null,
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

// --- what the stream says ------------------------------------------------------------------------

export function heard(type, data) {
  if (type === "snapshot") {
    state.sessions = new Map(data.sessions.map((raw) => [raw.id, raw]));
    for (const id of state.sessions.keys()) state.ended.delete(id);
    refreshAll();
  } else {
    if (data.session) take(data.session);
    touched(type, data);
  }
  change({});
}

function take(raw) {
  const lost = raw.liveness === "lost" && state.now - (seconds(raw.last_event_at) ?? 0) > HIDDEN_AFTER;
  state.sessions.delete(raw.id);
  state.ended.delete(raw.id);
  if (raw.liveness === "ended") {
    state.ended.set(raw.id, raw);
    while (state.ended.size > ENDED_MOST) state.ended.delete(state.ended.keys().next().value);
  } else if (!raw.provisional && !lost) {
    state.sessions.set(raw.id, raw);
  }
}

const timers = new Map();

// Asks again soon, once, however many events say so.
function soon(what, asking, pause) {
  if (timers.has(what)) return;
  timers.set(what, setTimeout(() => { timers.delete(what); quietly(asking); }, pause));
}

function touched(type, data) {
  if (type.startsWith("claim.")) soon("claims", readClaims, 100);
  if (type.startsWith("leftover.") || type === "session.ended") soon("leftovers", readLeftovers, 500);
  if (type.startsWith("session.")) soon("today", readToday, 1500);
  if (state.view === "timeline") soon("timeline", readTimeline, 700);
  if (state.view === "session" && data.session?.id === state.of) soon("detail", readDetail, 100);
}

export function refreshAll() {
  for (const asking of [readClaims, readLeftovers, readFleet, readToday, readEnded]) quietly(asking);
  refreshView();
}

export function refreshView() {
  if (state.view === "timeline") quietly(readTimeline);
  if (state.view === "session") quietly(readDetail);
}

async function quietly(asking) {
  try {
    await asking();
  } catch (fault) {
    if (fault instanceof Refused && fault.status === 401) change({ login: "needed" });
  }
}

const midnight = () => Math.floor(new Date().setHours(0, 0, 0, 0) / 1000);

async function readClaims() {
  change({ claims: await ask("GET", "/v1/claims") });
}

async function readLeftovers() {
  const answer = await askIfThere("/v1/leftovers");
  change({ leftovers: answer === null ? null : answer.leftovers });
}

async function readFleet() {
  change({ fleet: await askIfThere("/v1/fleet") });
}

async function readToday() {
  change({ today: await askIfThere(`/v1/today?since=${midnight()}`) });
}

async function readEnded() {
  const answer = await ask("GET", `/v1/history?type=session.ended&since=${midnight()}&newest=1&limit=${ENDED_MOST}`);
  for (const event of answer.events) {
    const raw = event.session;
    if (raw && raw.liveness === "ended" && !state.sessions.has(raw.id)) state.ended.set(raw.id, raw);
  }
  change({});
}

export async function readTimeline() {
  const until = state.until ?? Math.floor(Date.now() / 1000) + 1;
  change({ timeline: await ask("GET", `/v1/timeline?since=${Math.floor(until - state.range)}&until=${Math.floor(until)}`) });
}

export async function readDetail() {
  const id = state.of;
  const [explanation, past] = await Promise.all([
    ask("GET", `/v1/sessions/${quoted(id)}/explain`),
    ask("GET", `/v1/history?session=${quoted(id)}&newest=1&limit=60`),
  ]).catch((fault) => {
    if (!(fault instanceof Refused) || fault.status === 401) throw fault;
    return [{ fault }, { events: [] }];
  });
  if (state.of === id) change({ detail: { id, explanation, events: past.events } });
}

export async function readHistory(item) {
  change({ history: await ask("GET", `/v1/claims?history=${quoted(item)}`) });
}

// --- what is looked at ---------------------------------------------------------------------------

export function matches(raw, filter) {
  if (!filter) return true;
  const text = [raw.id, raw.name, raw.agent, raw.cwd, raw.repo, raw.branch, raw.doing, raw.activity, raw.waiting_on, raw.role, raw.where, groupOf(raw)];
  const all = text.filter(Boolean).join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

// The rows as they are placed: by the order of the table, or as they were while it is held.
export function placed() {
  const fresh = inOrder([...state.sessions.values(), ...state.ended.values()], state.now);
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
  change({ now: Date.now() / 1000 });
}

// --- what is done --------------------------------------------------------------------------------

// Asks before it does: what exactly, by which request, with the command that would do the same.
export function confirm(title, lines, command, word, doing) {
  change({ dialog: { title, lines, command, word, doing } });
}

export async function act(doing) {
  change({ dialog: null });
  try {
    change({ notice: { text: (await doing()) || "Done.", bad: false } });
  } catch (fault) {
    const text = fault instanceof Refused ? [fault.message, fault.hint].filter(Boolean).join(" ") : "The daemon did not answer.";
    change({ notice: { text, bad: true } });
  }
  refreshAll();
}
