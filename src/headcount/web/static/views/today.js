// Today: how long agents waited for their user.
//
// Rules
//   1. Only what was seen is counted, and that is said.
//
// Not here: how it is counted (core/timeline.py).

import { html } from "../dom.js";
import { state } from "../state.js";
import { clean, exactSpan, quoted, SHORTEST_ID } from "../words.js";

export function today() {
  const day = state.today;
  if (!day) return html`<h1>Waited on you today</h1><p class="empty">Reading…</p>`;
  return html`<h1>Waited on you today</h1>
    <p class="big">${exactSpan(day.waited_s)}</p>
    <p>${day.waits} ${day.waits === 1 ? "time" : "times"}, of all agents together; in ${exactSpan(day.any_s)} at least one waited. ${day.waiting_now ? `${day.waiting_now} ${day.waiting_now === 1 ? "waits" : "wait"} now.` : "Nobody waits now."}</p>
    ${day.sessions.length ? html`<ol class="bars">${day.sessions.map((each) => html`
      <li key=${each.session}><a href=${`#/session/${quoted(each.session)}`}>${clean(each.name) || clean(each.session).slice(0, SHORTEST_ID)}</a>
        <span class="bar" aria-hidden="true"><i style=${{ width: `${Math.max(1, (each.seconds / day.sessions[0].seconds) * 100)}%` }}></i></span>
        <span class="age">${exactSpan(each.seconds)} · ${each.times}×</span></li>`)}</ol>` : null}
    <p class="note">What headcount did not see is not counted.</p>`;
}
