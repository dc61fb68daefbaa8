// Remains: a leftover, and what became of a process that was to be ended, in the words of the command line.
//
// Rules
//   1. cli/commands/leftovers.py and cli/actions/confirm_and_request.py are the originals; tests/page/test_same_words_as_cli.py compares.
//   2. Field names are those of the wire (`LeftoverRow`, `Signalled`); what is null there is not said.
//
// Not here: the list (views/leftovers.js), asking for the end (views/leftovers.js, views/session.js).

import { clean, said, seconds, SHORTEST_ID, span } from "./words.js";

const MEGABYTE = 1024 ** 2, GIGABYTE = 1024 ** 3;
const KILL_AFTER = 5; // what is suggested
const FAILED = new Set(["survived", "refused"]);

export function memory(bytes) {
  if (typeof bytes !== "number") return "-";
  if (bytes >= GIGABYTE) return `${(bytes / GIGABYTE).toFixed(1)} GB`;
  return bytes ? `${Math.max(1, Math.round(bytes / MEGABYTE))} MB` : "0 MB";
}

// Of all processes that the dead left, together.
export function held(leftovers) {
  return leftovers.reduce((sum, each) => sum + (typeof each.memory_bytes === "number" ? each.memory_bytes : 0), 0);
}

// `41377 node vite :5173 cpu 3m`.
export function whatOf(leftover) {
  const ports = (leftover.ports || []).map((port) => `:${clean(port)}`);
  const cpu = typeof leftover.cpu_s === "number" && leftover.cpu_s >= 1 ? `cpu ${span(leftover.cpu_s)}` : "";
  return [clean(leftover.pid), clean(leftover.what), ...ports, cpu].filter(Boolean).join(" ");
}

export function ageOf(leftover, now) {
  if (typeof leftover.age_s === "number") return span(leftover.age_s);
  const found = seconds(leftover.found_at);
  return found === null ? "-" : span(now - found);
}

export function evidenceOf(leftover) {
  return (leftover.evidence || []).map(clean).join("; ");
}

// `7f3a auth-refactor (pid 41377)`; of a leftover `node vite (pid 41402, left by 02b7)`.
function subject(result) {
  const pid = clean(result.pid);
  const what = clean(result.what);
  const session = clean(result.session).slice(0, SHORTEST_ID);
  if (!what) return `pid ${pid}`;
  if (result.leftover) return `${what} (pid ${pid}${session ? `, left by ${session}` : ""})`;
  return `${`${session} ${said(what)}`.trim()} (pid ${pid})`;
}

// `7f3a auth-refactor (pid 41377) exited in 0.2 s.` `command`: the one that would be called again, with a deadline.
export function sentence(result, command = "") {
  const who = subject(result);
  const took = typeof result.seconds === "number" ? ` in ${result.seconds.toFixed(1)} s` : "";
  if (result.outcome === "exited") return `${who} exited${took}.`;
  if (result.outcome === "killed") return `${who} ignored SIGTERM and was killed${took}.`;
  if (result.outcome === "survived") return `${who} ignored SIGTERM and is still alive: ${command ? `${command} ` : ""}--kill-after ${KILL_AFTER}.`;
  if (result.outcome === "over") return `${who} had ended already.`;
  return `${who} was not signalled: ${clean(result.because)}.`;
}

// What is said of an answer to stop, close or reap: each process's end, and whether one did not.
export function outcome(answer, command) {
  const results = answer.results || [];
  const text = results.map((each) => sentence(each, command)).join(" ") || "No process to end. Nothing done.";
  return { text, bad: results.some((each) => FAILED.has(each.outcome)) };
}
