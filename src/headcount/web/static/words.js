// Words: a session of the wire in the words that people see; the same as `headcount ps` says.
//
// Rules
//   1. present/session_words.py is the original. tests/page/test_same_words_as_cli.py runs both on the same rows and compares.
//   2. Every foreign string goes through `clean` before it is shown: one line, nothing hidden, nothing reordered.
//      Inside a sentence an item or a name goes through `said`; a command that somebody may copy is made by `command`.
//
// Not here: drawing (views/), what is true (the daemon decides).

export const SHORTEST_ID = 4;
export const GROUPS = ["needs you", "stopped", "done", "working", "unknown", "idle", "ended"];

export const MARKS = {
  "needs you": "▲", stopped: "■", done: "✓", working: "●", unknown: "?", idle: "○", ended: "✗",
};

const GROUP_OF_ACTIVITY = {
  waiting: "needs you", failed: "stopped", done: "done", working: "working", idle: "idle",
};
const AGENT_NAMES = { "claude-code": "claude" };
const COMBINING_MOST = 2;
const MINUTE = 60, HOUR = 3600, DAY = 86400;

const SPACES = /[\t\n\r\v\f\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/u;
const BLANKS = /[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\u180b-\u180f\u{e0100}-\u{e01ef}]/u;
const FORMAT = /\p{Cf}/u;
const MARK = /[\p{Mn}\p{Me}]/u;
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}]/u;
const PLAIN = /^[\x20-\x7e]*$/;
const WORD = /^[\p{L}\p{N}\p{Mn}\p{Mc}._/#@:+~-]*$/u, SAID_MOST = 80, ITEM_MOST = 600;
const SAFE = /^[\w@%+=:,./-]+$/, SPELT = /^[A-Za-z0-9._/#@:+~-]$/;

export function clean(value) {
  if (value === null || value === undefined) return "";
  const text = String(value);
  if (PLAIN.test(text)) return text;
  let kept = "", marks = 0;
  for (const character of text) {
    if (SPACES.test(character)) { kept += " "; marks = 0; continue; }
    if (FORMAT.test(character) || BLANKS.test(character)) continue;
    marks = MARK.test(character) ? marks + 1 : 0;
    if (marks > COMBINING_MOST) continue;
    kept += UNPRINTABLE.test(character) ? "?" : character;
  }
  return kept;
}

// Foreign text inside a sentence: one word as it is, else in quotes; cut. clean_text.py is the original.
export function said(value, most = SAID_MOST) {
  const shown = clean(value).trim(), letters = [...shown.replaceAll('"', "'")];
  if (letters.length <= most && WORD.test(shown)) return shown;
  return `"${letters.length <= most ? letters.join("") : `${letters.slice(0, most - 1).join("")}…`}"`;
}

export const saidItem = (item) => said(item, ITEM_MOST);

// A command to paste into a POSIX shell, which takes it apart into exactly these words: clean_text.py is the original.
export function command(...words) {
  return words.map(String).map((word) => {
    if (word === clean(word)) return SAFE.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
    const spelt = [...new TextEncoder().encode(word)].map((byte) => SPELT.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`);
    return `"$(printf '${spelt.join("")}')"`;
  }).join(" ");
}

// As a piece of a path. Half a surrogate pair, which no address can hold, becomes the sign for it.
export function quoted(value) {
  return encodeURIComponent(String(value).toWellFormed());
}

export function seconds(stamp) {
  const moment = typeof stamp === "string" ? Date.parse(stamp) : NaN;
  return Number.isNaN(moment) ? null : moment / 1000;
}

export function span(length) {
  const whole = Math.max(0, Math.floor(length));
  if (whole < MINUTE) return `${whole}s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)}m`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)}h`;
  return `${Math.floor(whole / DAY)}d`;
}

export function exactSpan(length) {
  const whole = Math.max(0, Math.floor(length));
  const two = (number) => String(number).padStart(2, "0");
  if (whole < MINUTE) return `${whole}s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)}m${two(whole % MINUTE)}s`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)}h${two(Math.floor((whole % HOUR) / MINUTE))}m`;
  return `${Math.floor(whole / DAY)}d${two(Math.floor((whole % DAY) / HOUR))}h`;
}

// The local time of day, with the date when that is not the day of `now`.
export function timeOf(moment, now) {
  const then = new Date(moment * 1000), two = (number) => String(number).padStart(2, "0");
  const day = `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} `;
  return `${then.toDateString() === new Date(now * 1000).toDateString() ? "" : day}${two(then.getHours())}:${two(then.getMinutes())}:${two(then.getSeconds())}`;
}

export function clock(moment, exact = true) {
  const text = timeOf(moment, Date.now() / 1000);
  return exact ? text : text.slice(0, -":00".length).replace(/^\d{4}-/, "");
}

export function groupOf(raw) {
  if (raw.liveness === "ended") return "ended";
  if (raw.liveness === "lost") return "unknown";
  return Object.hasOwn(GROUP_OF_ACTIVITY, raw.activity) ? GROUP_OF_ACTIVITY[raw.activity] : "unknown";
}

export function activityWord(raw) {
  const activity = clean(raw.activity) || "unknown";
  if (activity === "waiting") return clean(raw.waiting_on) || "waiting";
  if (activity === "failed") return clean(raw.failure) || "error";
  return activity;
}

export function endOf(ended) {
  if (ended.kind === "rebooted") return "ended by reboot";
  if (ended.away && ended.kind !== "superseded") return "ended while headcount was away";
  if (ended.kind === "exited" && !ended.exit_code) return "exited";
  return clean(ended.because) || "ended";
}

export function stateOf(raw, now) {
  if (raw.liveness === "ended") return endOf(raw.ended || {});
  if (raw.liveness === "lost") {
    const heard = seconds(raw.last_event_at);
    return heard === null ? "unheard" : `unheard ${span(now - heard)}`;
  }
  const word = activityWord(raw);
  const inferred = raw.stalled || (raw.liveness !== "alive" && word !== "unknown");
  return inferred ? `${word}?` : word;
}

export function agentName(raw) {
  const agent = clean(raw.agent) || "-";
  return Object.hasOwn(AGENT_NAMES, agent) ? AGENT_NAMES[agent] : agent;
}

function beside(background) {
  const counts = new Map();
  for (const work of background) {
    const kind = clean(work.kind) || "task";
    counts.set(kind, (counts.get(kind) || 0) + 1);
  }
  return [...counts].map(([kind, count]) => `+${count} ${kind}${count > 1 ? "s" : ""}`).join(" ");
}

export function doingOf(raw, group) {
  const background = raw.background || [];
  if (group === "ended") {
    const because = clean((raw.ended || {}).because);
    return because === endOf(raw.ended || {}) ? "" : because;
  }
  if (group === "idle" && background.length) {
    return `${background.length} background: ${clean(background[0].label) || clean(background[0].kind)}`;
  }
  let doing = clean(raw.doing);
  if (!doing && group === "done") doing = "finished, not visited";
  if (!doing && group === "unknown" && raw.liveness === "alive") doing = "alive; nothing heard yet";
  return [doing, beside(background)].filter(Boolean).join(" ");
}

export function repoOf(raw) {
  if (raw.repo) return clean(raw.branch ? `${raw.repo}@${raw.branch}` : raw.repo);
  if (!raw.cwd) return "-";
  return clean(String(raw.cwd).replace(/\/+$/, "").split("/").pop() || "/");
}

export function nameOf(raw) {
  return clean(raw.name) || "-";
}

// `02b7 i18n`.
export function whoOf(raw) {
  return [clean(raw.id).slice(0, SHORTEST_ID), said(raw.name)].filter(Boolean).join(" ");
}

const moments = new WeakMap(); // a row never changes, another takes its place: its time is read once

export function sinceOf(raw) {
  if (!moments.has(raw)) moments.set(raw, seconds((raw.ended || {}).at || raw.since));
  return moments.get(raw);
}

// The rows in the order of the table: by group, the oldest first, ended ones the newest first.
export function inOrder(sessions, now) {
  const placed = [...sessions].map((raw) => {
    const group = groupOf(raw), since = sinceOf(raw) ?? now;
    return { raw, group, since, rank: GROUPS.indexOf(group), order: group === "ended" ? -since : since };
  });
  return placed.sort((a, b) => a.rank - b.rank || a.order - b.order || (a.raw.id < b.raw.id ? -1 : 1));
}

const COUNTED = { "needs you": ["needs you", "need you"] };
const UNPROVEN = [["unknown", "not proven alive"], ["lost", "unheard"]];

// `8 alive: 2 need you, 1 stopped, …`, and beside it those of whom that is not known.
export function summaryOf(sessions) {
  const alive = sessions.filter((raw) => raw.liveness === "alive");
  const counts = GROUPS.map((group) => [alive.filter((raw) => groupOf(raw) === group).length, COUNTED[group] || [group, group]]);
  const parts = counts.filter(([count]) => count).map(([count, [one, many]]) => `${count} ${count === 1 ? one : many}`);
  const others = UNPROVEN.map(([liveness, word]) => [sessions.filter((raw) => raw.liveness === liveness).length, word]).filter(([count]) => count);
  return [parts.length ? `${alive.length} alive: ${parts.join(", ")}` : "0 alive", ...others.map(([count, word]) => `${count} ${word}`)].join("; ");
}

let knownIds = [], knownShort = new Map();

// Each id's shortest beginning that no other has, of at least four characters. Asked at every drawing: made anew only
// for other ids.
export function shortIds(ids) {
  if (ids.length === knownIds.length && ids.every((id, nth) => id === knownIds[nth])) return knownShort;
  [knownIds, knownShort] = [[...ids], shortened(ids)];
  return knownShort;
}

function shortened(ids) {
  const ordered = [...new Set(ids)].sort();
  const lengths = new Map(ordered.map((id) => [id, SHORTEST_ID]));
  for (let nth = 1; nth < ordered.length; nth += 1) {
    const [left, right] = [ordered[nth - 1], ordered[nth]];
    let shared = 0;
    while (shared < Math.min(left.length, right.length) && left[shared] === right[shared]) shared += 1;
    lengths.set(left, Math.max(lengths.get(left), shared + 1));
    lengths.set(right, Math.max(lengths.get(right), shared + 1));
  }
  return new Map(ordered.map((id) => [id, clean(id.slice(0, lengths.get(id)))]));
}
