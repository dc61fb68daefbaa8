// The stream: one connection for everything live, resumed where it broke.
//
// Rules
//   1. A lost connection is told at once, and tried again with growing pauses.
//   2. It resumes after the last event that was handled: nothing is missed, nothing comes twice.
//   3. The daemon is asked for a comment every other second; when three are missing the connection is lost, also when
//      it still stands: a daemon that hangs must not look alive. What is lost is as old as the last sign of life.
//
// Not here: what an event changes (state.js).

import { headers } from "./wire.js";

const FIRST_PAUSE = 250, LONGEST_PAUSE = 5000, COMMENT_EVERY = 2, SILENT_AFTER = 6000;

const OVER = new Set([401, 421]); // the credential has ended, or another run of the daemon has the port

let heardAt = Date.now();

// Calls `on.event(type, data)`, `on.live()`, `on.lost(since)` with the time of the last sign of life, and `on.refused()` when the credential is over.
export async function follow(on) {
  let last = null, pause = FIRST_PAUSE;
  for (;;) {
    try {
      const resume = last === null ? {} : { "last-event-id": last };
      await once(resume, on, (id) => { last = id; pause = FIRST_PAUSE; });
      on.lost(heardAt);
    } catch (fault) {
      if (fault.refused) { on.refused(); return; }
      on.lost(heardAt);
    }
    await new Promise((done) => setTimeout(done, pause * (0.75 + Math.random() / 2)));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

async function once(resume, on, handled) {
  const abort = new AbortController();
  let silence = setTimeout(() => abort.abort(), SILENT_AFTER);
  try {
    const answer = await fetch(`/v1/events?every=${COMMENT_EVERY}`, { headers: headers(resume), cache: "no-store", signal: abort.signal });
    if (OVER.has(answer.status)) throw Object.assign(new Error("not logged in"), { refused: true });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    heardAt = Date.now();
    on.live();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heardAt = Date.now();
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENT_AFTER);
      const frames = (rest + value).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) take(frame, on, handled);
    }
  } finally {
    clearTimeout(silence);
  }
}

function take(frame, on, handled) {
  let id = null, type = "message", data = "";
  for (const line of frame.split("\n")) {
    const at = line.indexOf(": ");
    const [name, value] = [line.slice(0, at), line.slice(at + 2)];
    if (name === "id") id = value;
    else if (name === "event") type = value;
    else if (name === "data") data += value;
  }
  if (!data) return;
  if (type === "closed") throw Object.assign(new Error("the page was closed"), { refused: true });
  on.event(type, JSON.parse(data));
  if (id !== null) handled(id);
}
