// The story: one event of a session in one line.
//
// Rules
//   1. present/event_lines.py and present/event_lines.py are the originals; tests/page/test_same_words_as_cli.py compares.
//   2. Events that change nothing people look at are not told.
//
// Not here: the words of rows (words.js), where events come from (state.js).

import { sentence } from "./remains.js";
import { agentName, clean, command, doingOf, exactSpan, groupOf, repoOf, said, saidItem, seconds, SHORTEST_ID, stateOf, timeOf, whoOf } from "./words.js";

const QUIET = new Set(["session.heard", "session.bound", "session.changed", "leftover.changed"]);

const FREED = {
  released: (who, item) => `${who} released ${item}`,
  died: (who, item) => `${item} is free: its holder ${who} died`,
  forced: (who, item) => `${item} was taken from ${who} by force`,
  "lease-lost": (who, item) => `${item} was lost by ${who}: this host was away from the fleet for too long`,
  "handed-off": (who, item) => `${who} handed ${item} on`,
  withdrawn: (who, item) => `${who} was gone before it heard that ${item} was its own`,
};

const NAMES = {
  process: ["process", "processes"], "second-writer": ["second writer", "second writers"], pane: ["pane", "panes"],
  worktree: ["dirty worktree", "dirty worktrees"], record: ["stale record", "stale records"],
};

// Of a kind that is not in the table, its own name.
const named = (kind) => (Object.hasOwn(NAMES, kind) ? NAMES[kind] : [clean(kind), clean(kind)]);

// A line, or nothing for what is not told.
export function storyOf(event) {
  const type = String(event.type);
  if (QUIET.has(type)) return "";
  if (type.startsWith("claim.")) return ofClaim(event);
  if (type === "session.examined") return aftermath(event);
  if (type.startsWith("ending.")) return ofEnding(event);
  if (type.startsWith("leftover.")) return ofLeftover(event);
  return event.session ? ofSession(event, event.session) : clean(type);
}

export function holderName(holder) {
  if (!holder) return "nobody";
  const session = clean(holder.session);
  return session ? `${session.slice(0, SHORTEST_ID)} ${said(holder.name)}`.trimEnd() : `process ${clean(holder.pid)}`;
}

function ofClaim(event) {
  const who = holderName(event.holder), item = saidItem(event.item), because = clean(event.because);
  if (event.type === "claim.granted") return `${who} claimed ${item} (claim #${clean(event.fence)})`;
  const by = event.by && because === "forced" ? ` (${clean(event.by)})` : "";
  const freed = Object.hasOwn(FREED, because) ? FREED[because] : () => `${item} is free, once ${who}'s`;
  return freed(who, item) + by;
}

// `freed task:I18N-4; left 2 processes, 1 dirty worktree. To go on: headcount resume 02b7`.
function aftermath(event) {
  const facts = event.facts || {}, left = facts.left || {};
  const kinds = [...Object.keys(NAMES), ...Object.keys(left).filter((kind) => !Object.hasOwn(NAMES, kind)).sort()].filter((kind) => left[kind]);
  const freed = (facts.freed || []).map(saidItem);
  const happened = [
    freed.length ? `freed ${freed.join(", ")}` : "",
    kinds.length ? `left ${kinds.map((kind) => `${clean(left[kind])} ${named(kind)[left[kind] === 1 ? 0 : 1]}`).join(", ")}` : "",
  ].filter(Boolean).join("; ");
  const resume = facts.resumable ? `To go on: ${command("headcount", "resume", clean(event.session?.id).slice(0, SHORTEST_ID))}` : "";
  return [happened, resume].filter(Boolean).join(". ");
}

function ofLeftover(event) {
  const left = event.leftover || {};
  const what = `${named(left.kind)[0]} ${left.pid ? `${clean(left.pid)} ` : ""}${clean(left.what)}`;
  if (event.type === "leftover.gone") return `gone: ${what}`;
  return event.session ? `${whoOf(event.session)} left: ${what}` : `left by nobody that is known: ${what}`;
}

function ofEnding(event) {
  const facts = event.facts || {};
  if (facts.outcome === "closed") return `${clean(event.session?.id).slice(0, SHORTEST_ID)} was closed (by ${asker(facts)})`;
  if (event.type === "ending.finished") return sentence({ ...facts, session: event.session?.id });
  const what = [clean(facts.pid), clean(facts.what)].filter(Boolean).join(" ");
  return `${clean(facts.signal)} to ${what} (${clean(facts.verb)}, by ${asker(facts)})`;
}

// Who asked for an ending: the operator, our own policy, or an agent; from which terminal, below whom.
function asker(facts) {
  const by = clean(facts.by);
  const who = by === "operator" || by === "policy" ? by : `agent ${by.slice(0, SHORTEST_ID)}`;
  const terminal = facts.caller?.terminal ? ` on ${clean(facts.caller.terminal)}` : "";
  const chain = (facts.caller?.chain || []).map((each) => `${clean(each.program)} ${clean(each.pid)}`);
  return `${who}${terminal}${chain.length ? ": " : ""}${chain.join(", ")}`;
}

const PLAIN = {
  "session.reopened": "is back: its end was only reported", "session.doubted": "cannot be asked now; not taken for dead",
  "alarm.raised": "alarm raised", "alarm.cleared": "alarm cleared",
};

function ofSession(event, raw) {
  const moment = seconds(event.at);
  if (Object.hasOwn(PLAIN, event.type)) return PLAIN[event.type];
  if (event.type === "session.started") return `started: ${agentName(raw)} in ${repoOf(raw)}`;
  if (event.type === "session.ended") {
    const started = seconds(raw.started_at);
    return `${stateOf(raw, moment)}${started === null ? "" : ` after ${exactSpan(moment - started)}`}`;
  }
  if (event.type === "session.closing") {
    const closes = seconds(event.facts?.closes_at);
    return `has been idle for long and will be closed${closes === null ? "" : ` at ${timeOf(closes, moment)}`}; type in it to keep it`;
  }
  return [stateOf(raw, moment), doingOf(raw, groupOf(raw))].filter(Boolean).join(": ");
}
