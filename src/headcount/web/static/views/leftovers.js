// Leftovers: what the dead left, on which evidence, with the exact command that ends it.
//
// Rules
//   1. Nothing is ended at the first click. What would be is asked of the daemon in a dry run, and shown.
//   2. What came of it is said process by process: one that ignored the signal is still there.
//
// Not here: the words (remains.js).

import { act, confirm } from "../acting.js";
import { html } from "../dom.js";
import { ageOf, evidenceOf, held, memory, outcome, sentence, whatOf } from "../remains.js";
import { state } from "../state.js";
import { ask } from "../wire.js";
import { clean, command, nameOf, quoted } from "../words.js";

const ALONE = { pane: "closed by nobody but you", worktree: "never deleted by us", record: "never deleted by us", "second-writer": "end one of the two" };

// All that its session left; what nobody that is known left goes by its own id.
function chosen(each) {
  return each.session ? { sessions: [each.session] } : { ids: [each.id] };
}

function reaping(each) {
  return each.session ? command("headcount", "reap", each.session.slice(0, 8), "--yes") : command("headcount", "reap", "--id", each.id, "--yes");
}

function line(result) {
  return result.outcome === "would" ? `${clean(result.pid)} ${clean(result.what)}` : sentence(result);
}

async function reap(each) {
  const dry = await ask("POST", "/v1/leftovers/reap", { ...chosen(each), yes: false });
  const alone = (dry.left_alone || []).map((what) => `Left alone, a ${clean(what)}`);
  const would = dry.results.filter((result) => result.outcome === "would");
  if (!would.length) return { text: [...dry.results.map(line), "Nothing done."].join(" "), bad: true };
  const lines = [...dry.results.map(line), ...alone, "Each is asked to end (SIGTERM), through a handle that was verified. Nothing else is touched."];
  confirm(would.length === 1 ? "End this process" : `End these ${would.length} processes`, lines, reaping(each), "End it", async () =>
    outcome(await ask("POST", "/v1/leftovers/reap", { ...chosen(each), yes: true }), reaping(each)));
  return null;
}

function from(each) {
  if (!each.session) return "from nobody that is known";
  const raw = state.ended.get(each.session) || state.sessions.get(each.session);
  return html`from <a href=${`#/session/${quoted(each.session)}`}>${raw && nameOf(raw) !== "-" ? nameOf(raw) : clean(each.session).slice(0, 8)}</a>`;
}

function card(each) {
  const size = typeof each.memory_bytes === "number" ? `, ${memory(each.memory_bytes)}` : "";
  return html`
    <li key=${each.id} data-leftover=${each.kind}>
      <div class="head"><b>${clean(each.kind)}</b><span class="fence">${ageOf(each, state.now)}${size}</span></div>
      <p class="what">${whatOf(each)}</p>
      <p class="note">${evidenceOf(each)}</p>
      <p>${from(each)}${each.kind === "process" ? null : html`, <span class="note">${ALONE[each.kind] || "never touched by us"}</span>`}</p>
      ${each.kind === "process" ? html`<p class="command"><code>${reaping(each)}</code> <button onClick=${() => act(() => reap(each))}>End it…</button></p>` : null}
    </li>`;
}

export function leftovers() {
  const listed = state.leftovers;
  if (listed === null) return html`<h1>Leftovers</h1><p class="empty">Reading…</p>`;
  if (!listed.length) return html`<h1>Leftovers</h1><p class="empty">Nothing was left behind.</p>`;
  return html`<h1>Leftovers</h1>
    ${held(listed) ? html`<p class="note">${memory(held(listed))} held.</p>` : null}
    <ul class="cards">${listed.map(card)}</ul>`;
}
