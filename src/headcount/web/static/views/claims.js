// Claims: who holds what, how many wait for it, and what became of an item before.
//
// Rules
//   1. Nothing here is taken at the first click: what exactly would happen is shown, with the command for it.
//   2. A claim whose host is not heard of is said to be so; it is not shown as gone.
//
// Not here: what sessions do (board.js), how a claim is told of among events (story.js).

import { act, confirm } from "../acting.js";
import { html } from "../dom.js";
import { readHistory } from "../hearing.js";
import { change, state } from "../state.js";
import { storyOf } from "../story.js";
import { ask } from "../wire.js";
import { clean, clock, command, quoted, said, saidItem, seconds, span } from "../words.js";

function who(holder) {
  if (!holder) return "nobody";
  const name = said(holder.name) || (holder.session ? clean(holder.session).slice(0, 4) : `process ${holder.pid}`);
  if (holder.here === false) return `${name} on ${clean(holder.host)}`; // its id says nothing here
  const isKnown = state.sessions.has(holder.session) || state.ended.has(holder.session);
  return isKnown ? html`<a href=${`#/session/${quoted(holder.session)}`}>${name}</a>` : name;
}

function holding(claim) {
  const item = saidItem(claim.item);
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
  const item = saidItem(claim.item);
  const lines = [holding(claim), `Its next check of claim number ${claim.fence} fails.`];
  confirm("Take this claim away", lines, command("headcount", "release", "--force", claim.item), "Take it away", async () => {
    await ask("DELETE", `/v1/claims/${quoted(claim.item)}?force=1`);
    return `${item} was taken away.`;
  });
}

function past(claim) {
  if (state.history?.asked !== claim.item) return html`<button onClick=${() => act(() => readHistory(claim.item))}>History</button>`;
  return html`<button aria-expanded="true" onClick=${() => change({ history: null })}>Close history</button>
    <ol class="events">${[...state.history.history].reverse().map((event) => html`<li key=${event.seq}><time>${clock(seconds(event.at))}</time> ${storyOf(event)}</li>`)}</ol>`;
}

function card(claim) {
  return html`
    <li key=${claim.item} class=${claim.waiting ? "contested" : ""} data-item=${claim.item}>
      <div class="head"><code>${clean(claim.item)}</code><span class="fence">claim #${claim.fence}</span></div>
      <p>Held by ${who(claim.holder)} since ${clock(seconds(claim.since))} (${span(state.now - seconds(claim.since))})${claim.waiting ? html`, <b>${claim.waiting} ${claim.waiting === 1 ? "waits" : "wait"} for it</b>` : null}</p>
      ${doubt(claim)}
      ${claim.note ? html`<p class="doing">${clean(claim.note)}</p>` : null}
      <p><button onClick=${() => force(claim)}>Take away…</button> ${past(claim)}</p>
    </li>`;
}

export function claims() {
  if (!state.claims) return html`<h1>Claims</h1><p class="empty">Reading…</p>`;
  const rows = state.claims.claims;
  return html`<h1>Claims</h1>
    ${state.claims.loss ? html`<p class="alarm">The store was lost: nothing is granted until headcount claims --accept-loss</p>` : null}
    ${state.claims.fleet ? html`<p class="alarm">Claims of the fleet are not all here: ${clean(state.claims.fleet)}</p>` : null}
    ${rows.length ? html`<ul class="cards">${rows.map(card)}</ul>` : html`<p class="empty">Nothing is claimed. An agent claims with: headcount claim task:NAME</p>`}`;
}
