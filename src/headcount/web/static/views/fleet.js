// The fleet: its hosts, whether each is vouched for, and what runs on the others.
//
// Rules
//   1. A database that cannot be reached is said first; the fleet is not shown as empty.
//   2. What another host's lease does not vouch for is unknown, never dead: the daemon says so, it is only drawn.
//
// Not here: shared claims (claims.js), the sessions of this host (board.js).

import { html } from "../dom.js";
import { state } from "../state.js";
import { agentName, clean, doingOf, groupOf, inOrder, MARKS, nameOf, repoOf, sinceOf, span, stateOf } from "../words.js";

function counted(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function host(each) {
  return html`
    <li key=${each.id} data-host=${each.id} class=${each.state === "alive" ? "" : "contested"}>
      <div class="head"><b>${clean(each.name)}${each.here ? " (here)" : ""}</b><span class=${each.state === "alive" ? "live-word" : "bad"}>${clean(each.state)}</span></div>
      <p>${counted(each.sessions, "session")}, ${counted(each.claims, "claim")}; heard of ${span(each.age_s)} ago</p>
      <p class="note">version ${clean(each.version)}</p>
    </li>`;
}

function row({ raw, group }) {
  const doing = doingOf(raw, group);
  return html`
    <li class=${`row ${group.replace(" ", "-")}`} key=${`${raw.host}:${raw.id}`} data-session=${raw.id} data-liveness=${raw.liveness}>
      <div class="line">
        <span class="mark" aria-hidden="true">${MARKS[group]}</span><span class="state">${stateOf(raw, state.now)}</span>
        <span class="age">${span(state.now - (sinceOf(raw) ?? state.now))}</span><span class="name">${nameOf(raw)}</span><span class="agent">${agentName(raw)}</span>
        <span class="repo">${repoOf(raw)}</span><span class="doing">${doing}</span><span class="where">${clean(raw.where)}</span><span class="id">${clean(raw.host)}</span>
      </div>
    </li>`;
}

export function fleet() {
  const known = state.fleet;
  if (!known?.joined) return html`<h1>Fleet</h1><p class="empty">This machine is in no fleet. Join one with: headcount fleet join postgresql://…</p>`;
  const here = known.hosts.find((each) => each.here)?.name;
  const others = inOrder((state.roster || []).filter((raw) => raw.host !== here && groupOf(raw) !== "ended"), state.now);
  return html`<h1>Fleet</h1>
    ${known.vouched && !known.fault ? null : html`<p class="alarm">${known.vouched ? "" : "Shared claims cannot be vouched for: "}${clean(known.fault)}</p>`}
    <p class="note">${clean(known.name)} in the fleet at ${clean(known.database)}</p>
    <ul class="cards">${known.hosts.map(host)}</ul>
    ${others.length ? html`<section><h2>On the other hosts <span class="count">${others.length}</span></h2><ol class="rows" aria-label="On the other hosts">${others.map(row)}</ol></section>` : null}`;
}
