// The stream: one connection for everything live, resumed where it broke.
//
// Rules of this file
//   1. A lost connection is told at once, and tried again with growing pauses.
//   2. It resumes after the last event that was handled: nothing is missed, nothing comes twice.
//   3. Silence for longer than two and a half of the daemon's comments is a lost connection.
//
// Not here: what an event changes (state.js).

import { headers } from "./wire.js";

const FIRST_PAUSE = 250, LONGEST_PAUSE = 5000, SILENT_AFTER = 75000;

// Calls `on.event(type, data)`, `on.live()`, `on.lost(why)`, and `on.refused()` when the credential is over.
export async function follow(on) {
  let last = null, pause = FIRST_PAUSE;
  for (;;) {
    try {
      const resume = last === null ? {} : { "last-event-id": last };
      await once(resume, on, (id) => { last = id; pause = FIRST_PAUSE; });
      on.lost("the daemon ended the stream");
    } catch (fault) {
      if (fault.refused) { on.refused(); return; }
      on.lost("the daemon does not answer");
    }
    await new Promise((done) => setTimeout(done, pause * (0.75 + Math.random() / 2)));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

async function once(resume, on, handled) {
  const abort = new AbortController();
  let silence = setTimeout(() => abort.abort(), SILENT_AFTER);
  try {
    const answer = await fetch("/v1/events", { headers: headers(resume), cache: "no-store", signal: abort.signal });
    if (answer.status === 401) throw Object.assign(new Error("not logged in"), { refused: true });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    on.live();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
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
  on.event(type, JSON.parse(data));
  if (id !== null) handled(id);
}
