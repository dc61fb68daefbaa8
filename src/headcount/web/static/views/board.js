// The board: what needs you first, then what stopped, what is done, what works; idle and ended folded.
//
// Rules
//   1. Every row has `data-session` and `data-liveness`; it is a link to everything known of that session.
//   2. A row never moves while somebody moves through the list (state.js holds the order).
//
// Not here: order and words (words.js).

import { html, part } from "../dom.js";
import { ENDED_MOST } from "../hearing.js";
import { AT_ONCE, change, matches, placed, state } from "../state.js";
import { agentName, clean, doingOf, exactSpan, groupOf, GROUPS, MARKS, nameOf, quoted, repoOf, shortIds, sinceOf, span, stateOf, summaryOf } from "../words.js";

const TITLES = {
  "needs you": "Needs you", stopped: "Stopped", done: "Done", working: "Working", unknown: "Unknown", idle: "Idle", ended: "Ended today",
};
const FOLDED = new Set(["idle", "ended"]);
const FEW_IDLE = 8;

export const Row = part(({ raw, short, word, age, doing, group }) => {
  const now = groupOf(raw);
  const killed = raw.ended && raw.ended.signal !== null;
  const more = [doing, ...(raw.claims || []).map((item) => `holds ${clean(item)}`), ...(raw.alarms || []).map((alarm) => `alarm: ${clean(alarm)}`)];
  const label = [nameOf(raw), word, raw.ended ? `${age} ago` : `for ${age}`, ...more].filter(Boolean).join(", ");
  return html`
    <li class=${`row ${killed ? "killed" : now.replace(" ", "-")}${group === now ? "" : " moved"}`} data-session=${raw.id} data-liveness=${raw.liveness} data-group=${now}>
      <a href=${`#/session/${quoted(raw.id)}`} aria-label=${label}>
        <span class="mark" aria-hidden="true">${MARKS[now]}</span>
        <span class="state">${word}</span>
        <span class="age">${age}</span>
        <span class="name">${nameOf(raw)}</span>
        <span class="agent">${agentName(raw)}</span>
        <span class="repo">${repoOf(raw)}</span>
        <span class="doing">${doing}</span>
        <span class="where">${clean(raw.where)}</span>
        <span class="id">${short}</span>
        ${(raw.claims || []).length ? html`<span class="holds">${raw.claims.map((item) => html`<b>${clean(item)}</b>`)}</span>` : null}
        ${(raw.alarms || []).map((alarm) => html`<span class="alarm">! ${clean(alarm)}</span>`)}
      </a>
    </li>`;
});

const made = new WeakMap(); // by row: what it was drawn from, and the drawing, which then is not compared again

function row(each, short, now) {
  const { raw, group } = each;
  const from = [short.get(raw.id), stateOf(raw, now), span(now - (sinceOf(raw) ?? now)), doingOf(raw, groupOf(raw)), group];
  const known = made.get(raw);
  if (known && from.every((word, nth) => word === known.from[nth])) return known.drawn;
  const [id, word, age, doing] = from;
  const drawn = html`<${Row} key=${raw.id} raw=${raw} short=${id} word=${word} age=${age} doing=${doing} group=${group} />`;
  made.set(raw, { from, drawn });
  return drawn;
}

function isFolded(group, rows) {
  return FOLDED.has(group) && !state.filter && (group === "ended" || rows.length > FEW_IDLE) && !state.openGroups.has(group);
}

function section(group, rows, room, short, now) {
  if (!rows.length) return null;
  const folded = isFolded(group, rows);
  const list = folded ? null : html`<ol class="rows" aria-label=${TITLES[group]}>${rows.slice(0, room).map((each) => row(each, short, now))}</ol>`;
  const isCut = group === "ended" && state.ended.size >= ENDED_MOST; // older ones are in `headcount ps --all`
  const count = html`<span class="count">${isCut ? `the last ${rows.length}` : rows.length}</span>`;
  const heading = FOLDED.has(group)
    ? html`<button class="fold" aria-expanded=${String(!folded)} onClick=${() => fold(group)}>${TITLES[group]} ${count}</button>`
    : html`${TITLES[group]} ${count}`;
  return html`<section class=${`group ${group.replace(" ", "-")}`} key=${group}><h2>${heading}</h2>${list}</section>`;
}

function fold(group) {
  const open = new Set(state.openGroups);
  if (!open.delete(group)) open.add(group);
  change({ openGroups: open });
}

export function board() {
  const all = placed();
  const short = shortIds(all.map((each) => each.raw.id));
  const shown = all.filter((each) => matches(each.raw, state.filter));
  let room = state.most;
  const sections = GROUPS.map((group) => {
    const rows = shown.filter((each) => each.group === group);
    const drawn = section(group, rows, Math.max(0, room), short, state.now);
    room -= isFolded(group, rows) ? 0 : rows.length;
    return drawn;
  });
  if (room < 0) requestAnimationFrame(() => change({ most: state.most + AT_ONCE }));
  const living = all.filter((each) => each.raw.liveness !== "ended").map((each) => each.raw);
  return html`
    <h1 class="hidden">Board</h1>
    <div class="tools">
      <label class="search"><span class="hidden">Filter sessions</span>
        <input id="filter" type="search" placeholder="Filter: name, repo, state…  ( / )" autocomplete="off" spellcheck=${false}
          value=${state.filter} onInput=${(event) => change({ filter: event.target.value, held: null, most: AT_ONCE })} /></label>
      <span class="summary">${summaryOf(living)}${state.filter ? `; ${shown.length} of ${all.length} shown` : ""}</span>
    </div>
    ${state.today && state.today.waits ? html`<p class="today">Agents waited on you <b>${exactSpan(state.today.waited_s)}</b> today, in ${state.today.waits} ${state.today.waits === 1 ? "question" : "questions"}.</p>` : null}
    ${!living.length && !state.filter ? html`<p class="empty">No agent is running. Start one in any terminal; it appears here by itself.</p>` : null}
    ${state.filter && !shown.length ? html`<p class="empty">Nothing fits “${clean(state.filter)}”.</p>` : null}
    ${sections}`;
}
