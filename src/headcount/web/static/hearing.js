// Hearing: what comes in. The stream's events, and what is asked for beside it when one of them touches it.
//
// Rules
//   1. Sessions are what the stream says.
//   2. However much happens, a question is asked once after a pause; the dear ones (a timeline and a day are read off
//      the whole journal) after a long one. What nobody sees is asked when somebody looks again.
//
// Not here: the connection (stream.js), what is looked at (state.js).

import { change, midnight, state } from "./state.js";
import { ask, askIfThere, Refused } from "./wire.js";
import { quoted, seconds } from "./words.js";

export const ENDED_MOST = 300;
const HIDDEN_AFTER = 86400, YOUNG = [900, 1800];
const PAUSES = { claims: 100, leftovers: 500, fleet: 500, detail: 150, timeline: 2000, today: 15000 }; // milliseconds
const LOOKED_AT = { fleet: 5000, timeline: 10000, today: 10000, leftovers: 30000 }; // views whose figures age by themselves

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

function soon(what) {
  if (timers.has(what)) return;
  const asking = { claims: readClaims, leftovers: readLeftovers, fleet: readFleet, detail: readDetail, timeline: readTimeline, today: readToday }[what];
  timers.set(what, setTimeout(() => { timers.delete(what); if (!document.hidden) quietly(asking); }, PAUSES[what]));
}

function touched(type, data) {
  if (type.startsWith("claim.") || type.startsWith("fleet.")) soon("claims");
  if (type.startsWith("leftover.") || type === "session.ended") soon("leftovers");
  if (type.startsWith("fleet.") || type.startsWith("host.")) soon("fleet");
  if (type === "session.activity" || type === "session.ended") soon("today");
  if (state.view === "timeline" && state.until === null) soon("timeline");
  if (state.view === "session" && data.session?.id === state.of) soon("detail");
}

export function refreshAll() {
  for (const asking of [readClaims, readLeftovers, readFleet, readToday, readEnded]) quietly(asking);
  refreshView();
}

export function refreshView() {
  if (state.view === "timeline") quietly(readTimeline);
  if (state.view === "session") quietly(readDetail);
  if (state.view === "fleet") quietly(readRoster);
  if (state.view === "today") quietly(readToday);
  if (state.view === "leftovers") quietly(readLeftovers);
  lookedAt = Date.now();
}

let lookedAt = 0;

// A view that shows ages of its own is read again while it is looked at, also when nothing happens.
export function lookAgain() {
  if (document.hidden || state.connection !== "live" || (state.view === "timeline" && state.until !== null)) return;
  if (Date.now() - lookedAt >= (LOOKED_AT[state.view] ?? Infinity)) refreshView();
}

async function quietly(asking) {
  try {
    await asking();
  } catch (fault) {
    if (fault instanceof Refused && fault.status === 401) change({ login: "needed" });
  }
}

async function readClaims() {
  change({ claims: await ask("GET", "/v1/claims") });
}

async function readLeftovers() {
  const answer = await askIfThere("/v1/leftovers");
  change({ leftovers: answer === null ? null : answer.leftovers });
}

async function readFleet() {
  change({ fleet: await askIfThere("/v1/fleet") });
  if (state.view === "fleet") await readRoster();
}

async function readRoster() {
  const fleet = await askIfThere("/v1/fleet");
  change({ fleet, roster: fleet?.joined && fleet.hosts.length ? (await ask("GET", "/v1/fleet/sessions")).sessions : null });
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
  const timeline = await ask("GET", `/v1/timeline?since=${Math.floor(until - state.range)}&until=${Math.floor(until)}`);
  change({ timeline });
  if (state.ranged) return;
  const before = state.range;
  change({ ranged: true, range: shortest(timeline) });
  if (state.range !== before) await readTimeline();
}

// A headcount that is young would show two hours of nothing: as much as it has seen, rounded up.
function shortest({ since, to, blind: [first] }) {
  const seen = first && first.since === since ? seconds(to) - seconds(first.to) : Infinity;
  return YOUNG.find((range) => seen < range) ?? state.range;
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
  change({ history: { ...(await ask("GET", `/v1/claims?history=${quoted(item)}`)), asked: item } });
}
