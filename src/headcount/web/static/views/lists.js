// Lists: claims with holders and waiters, leftovers with the exact command, hosts of a fleet.
//
// Rules of this file
//   1. Nothing here is done at the first click: what exactly would happen is shown, with the command for it.
//   2. What this daemon does not know is said so, and nothing is made up.
//
// Not here: sessions (board.js, session.js).

import { html } from "../dom.js";
import { act, change, confirm, readHistory, state } from "../state.js";
import { ask } from "../wire.js";
import { bytes, clean, clock, exactSpan, memoryOf, quoted, seconds, span } from "../words.js";

function who(holder) {
  if (!holder) return "nobody";
  const name = clean(holder.name) || (holder.session ? clean(holder.session).slice(0, 4) : `process ${holder.pid}`);
  if (holder.here === false) return `${name} on ${clean(holder.host)}`;
  return holder.session ? html`<a href=${`#/session/${quoted(holder.session)}`}>${name}</a>` : name;
}

function holding(claim) {
  const item = clean(claim.item);
  if (claim.holder?.here !== false) return `${item} is held by a living process. It may go on working as if it still held it.`;
  const held = `${item} is held by ${who(claim.holder)}`;
  return claim.vouched === false ? `${held}, of which nothing is known now. If it lives it may go on working as if it still held it.` : `${held}. It may go on working as if it still held it.`;
}

function doubt(claim) {
  if (claim.vouched !== false) return null;
  const free = claim.free_in_s === null || claim.free_in_s === undefined ? "" : `; free in ${span(claim.free_in_s)} unless its host comes back`;
  return html`<p class="alarm">In doubt: nobody vouches for it now${free}.</p>`;
}

function force(claim) {
  const item = clean(claim.item);
  confirm("Take this claim away", [holding(claim), "Its next check of claim number " + claim.fence + " fails."], `headcount release --force ${shellQuoted(item)}`, "Take it away", async () => {
    await ask("DELETE", `/v1/claims/${quoted(claim.item)}?force=1`);
    return `${item} is free.`;
  });
}

function shellQuoted(text) {
  return /^[\w@%+=:,./#-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function claims() {
  if (!state.claims) return html`<h1>Claims</h1><p class="empty">Reading…</p>`;
  const rows = state.claims.claims;
  return html`<h1>Claims</h1>
    ${state.claims.loss ? html`<p class="alarm">The store was lost: nothing is granted until headcount claims --accept-loss</p>` : null}
    ${state.claims.fleet ? html`<p class="alarm">The fleet's claims cannot be read now: only those of this machine are listed. ${clean(state.claims.fleet)}</p>` : null}
    ${rows.length ? html`<ul class="cards">${rows.map((claim) => html`
      <li key=${claim.item} class=${claim.waiting ? "contested" : ""} data-item=${claim.item}>
        <div class="head"><code>${clean(claim.item)}</code><span class="fence">claim #${claim.fence}</span></div>
        <p>Held by ${who(claim.holder)} since ${clock(seconds(claim.since))} (${span(state.now - seconds(claim.since))})${claim.waiting ? html`, <b>${claim.waiting} ${claim.waiting === 1 ? "waits" : "wait"} for it</b>` : null}</p>
        ${doubt(claim)}
        ${claim.note ? html`<p class="doing">${clean(claim.note)}</p>` : null}
        <p><button onClick=${() => act(async () => { await readHistory(claim.item); return " "; })}>History</button> <button onClick=${() => force(claim)}>Take away…</button></p>
      </li>`)}</ul>` : html`<p class="empty">Nothing is claimed. An agent claims with: headcount claim task:NAME</p>`}
    ${state.history ? html`<section><h2>History of <code>${clean(state.history.item)}</code></h2>
      <ol class="events">${[...state.history.history].reverse().map((event) => html`<li key=${event.seq}><time>${clock(seconds(event.at))}</time> ${event.type === "claim.granted" ? "granted to" : `${clean(event.because) || "released"}:`} ${who(event.holder)} · claim #${event.fence}</li>`)}</ol>
      <p><button onClick=${() => change({ history: null })}>Close</button></p></section>` : null}`;
}

// What `headcount reap S --yes` does, to the letter: all processes that this session left, each through a handle.
function reap(each) {
  const same = state.leftovers.filter((other) => other.kind === "process" && other.session === each.session && other.pid);
  confirm("End what it left", [...same.map((other) => clean(other.what)), "Each is asked to end (SIGTERM), through a handle that was verified. Nothing else is touched."], reaping(each), "End it", async () => {
    await ask("POST", "/v1/leftovers/reap", { sessions: [each.session], yes: true });
    return `${same.length === 1 ? "One process was" : `${same.length} processes were`} asked to end.`;
  });
}

function reaping(each) {
  return `headcount reap ${clean(each.session).slice(0, 8)} --yes`;
}

export function leftovers() {
  if (state.leftovers === null) return html`<h1>Leftovers</h1><p class="empty">This daemon does not look for leftovers.</p>`;
  if (!state.leftovers.length) return html`<h1>Leftovers</h1><p class="empty">Nothing was left behind.</p>`;
  return html`<h1>Leftovers</h1>
    <ul class="cards">${state.leftovers.map((each, nth) => html`
      <li key=${`${each.kind}:${each.pid ?? each.what}:${nth}`} data-leftover=${each.kind}>
        <div class="head"><b>${clean(each.kind)}</b><span>${memoryOf(each) ? bytes(memoryOf(each)) : ""}</span></div>
        <p class="what">${clean(each.what)}</p>
        <p class="note">${clean(typeof each.evidence === "string" ? each.evidence : JSON.stringify(each.evidence))}</p>
        <p>${each.session ? html`from <a href=${`#/session/${quoted(each.session)}`}>${clean(each.session).slice(0, 8)}</a> ` : null}
          ${each.kind === "process" && each.pid && each.session ? html`<code>${reaping(each)}</code> <button onClick=${() => reap(each)}>End it…</button>` : html`<span class="note">${each.kind === "process" ? "" : "never touched by us"}</span>`}</p>
      </li>`)}</ul>`;
}

const counted = (count, word) => `${count} ${word}${String(count) === "1" ? "" : "s"}`;

export function fleet() {
  if (!state.fleet?.joined) return html`<h1>Fleet</h1><p class="empty">This machine is in no fleet. Join one with: headcount fleet join</p>`;
  const { hosts, fault, vouched } = state.fleet;
  return html`<h1>Fleet</h1>
    ${fault ? html`<p class="alarm">${vouched ? "" : "Shared claims cannot be vouched for: "}${clean(fault)}</p>` : null}
    <ul class="cards">${hosts.map((host) => html`
      <li key=${host.id} data-host=${host.id}><div class="head"><b>${clean(host.name)}${host.here ? " (here)" : ""}</b><span>${clean(host.state)}</span></div>
        <p>${counted(clean(host.sessions), "session")}, ${counted(clean(host.claims), "claim")}, seen ${span(host.age_s)} ago, headcount ${clean(host.version)}</p></li>`)}</ul>`;
}

export function today() {
  const day = state.today;
  if (!day) return html`<h1>Waited on you today</h1><p class="empty">Reading…</p>`;
  return html`<h1>Waited on you today</h1>
    <p class="big">${exactSpan(day.waited_s)}</p>
    <p>${day.waits} ${day.waits === 1 ? "time" : "times"}, of all agents together; in ${exactSpan(day.any_s)} at least one waited. ${day.waiting_now ? `${day.waiting_now} ${day.waiting_now === 1 ? "waits" : "wait"} now.` : "Nobody waits now."}</p>
    ${day.sessions.length ? html`<ol class="bars">${day.sessions.map((each) => html`
      <li key=${each.session}><a href=${`#/session/${quoted(each.session)}`}>${clean(each.name) || clean(each.session).slice(0, 6)}</a>
        <span class="bar" aria-hidden="true"><i style=${{ width: `${Math.max(1, (each.seconds / day.sessions[0].seconds) * 100)}%` }}></i></span>
        <span class="age">${exactSpan(each.seconds)} · ${each.times}×</span></li>`)}</ol>` : null}
    <p class="note">What headcount did not see is not counted.</p>`;
}
