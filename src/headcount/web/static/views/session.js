// One session: everything known of it, why it is believed, what happened, what it holds and left.
//
// Rules
//   1. Each belief stands with its source and age, and the evidence that lost with it.
//   2. What ends something is asked for twice, with the command that does the same.
//
// Not here: the words of events (story.js), other sessions (board.js, timeline.js).

import { act, confirm } from "../acting.js";
import { html } from "../dom.js";
import { outcome, whatOf } from "../remains.js";
import { state } from "../state.js";
import { storyOf } from "../story.js";
import { ask, hasRoute } from "../wire.js";
import { agentName, clean, clock, command, doingOf, exactSpan, groupOf, MARKS, nameOf, quoted, repoOf, said, seconds, sinceOf, span, stateOf } from "../words.js";

function belief(word, each, now) {
  const age = each.at ? `${span(now - seconds(each.at))} ago` : "";
  return html`
    <tr class="stands"><th scope="row">${word}</th><td class="value">${clean(each.value)}</td><td>${clean(each.because)}</td><td>${clean(each.source)}</td><td>${age}</td></tr>
    ${(each.evidence || []).filter((line) => !line.stands || line.because !== each.because).map((line) => html`
      <tr class=${line.stands ? "" : "lost"}><td></td><td class="value">${clean(line.says)}</td><td>${clean(line.because)}${line.why_not ? html` <span class="why">(not taken: ${clean(line.why_not)})</span>` : null}</td><td>${clean(line.source)}</td><td>${line.at ? `${span(now - seconds(line.at))} ago` : ""}</td></tr>`)}`;
}

function copy(text) {
  return html`<button class="copy" onClick=${() => act(async () => { await navigator.clipboard.writeText(text); return "Copied."; })}>copy</button>`;
}

function toCopy(text) {
  return html`<p class="command"><code>${text}</code> ${copy(text)}</p>`;
}

// Of an ended one only: resuming a living conversation makes a second writer. The verb goes to its directory and asks
// first whether somebody has the conversation; the agent's own command does neither.
function resuming(raw) {
  if (raw.liveness !== "ended" || !raw.resume) return null;
  return html`<section><h2>Take it up again</h2>${toCopy(command("headcount", "resume", raw.id.slice(0, 8)))}
    <p class="note">It runs, in ${clean(raw.cwd) || "its directory"}: <code>${clean(raw.resume)}</code></p></section>`;
}

function ending(raw, verb, title, line) {
  const byHand = command("headcount", verb, raw.id.slice(0, 8));
  return () => confirm(title, [line, `${said(raw.name) || "-"}, process ${raw.pid ?? "unknown"}.`], byHand, title, async () =>
    outcome(await ask("POST", `/v1/sessions/${quoted(raw.id)}/${verb}`, {}), byHand));
}

// Only what this daemon can do.
function actions(raw) {
  const buttons = [
    ["stop", "Stop…", "Stop this agent", "It is asked to end; what it holds is then free."],
    ["close", "Close…", "Close this agent", "It is asked to end, and its pane is closed."],
  ].filter(([verb]) => hasRoute(`/v1/sessions/{id}/${verb}`));
  if (!buttons.length) return null;
  return html`<section class="actions"><h2>End it</h2>${buttons.map(([verb, word, title, line]) => html`<button onClick=${ending(raw, verb, title, line)}>${word}</button>`)}</section>`;
}

const counted = (number) => clean(typeof number === "number" ? number.toLocaleString("en") : number);

function facts(raw, now) {
  const started = seconds(raw.started_at);
  const rows = [
    ["Agent", agentName(raw)], ["Model", clean(raw.model)], ["Version", clean(raw.version)], ["Process", raw.pid], ["Directory", clean(raw.cwd)], ["Where", clean(raw.where)],
    ["Title", clean(raw.title)], ["Role", clean(raw.role)], ["Groups", (raw.groups || []).map(clean).join(", ")], ["Conversation", clean(raw.conversation)],
    ["Started", started ? `${clock(started)} (${exactSpan((raw.ended ? seconds(raw.ended.at) : now) - started)})` : ""],
    ["Last heard", raw.last_event_at && raw.source !== "none" ? `${span(now - seconds(raw.last_event_at))} ago, by ${clean(raw.source)}` : "nothing yet"],
    ["Context", raw.context_tokens ? `${counted(raw.context_tokens)}${raw.context_window ? ` of ${counted(raw.context_window)}` : ""} tokens` : ""], ["Tokens", raw.tokens ? `${counted(raw.tokens.input)} in, ${counted(raw.tokens.output)} out` : ""],
    ["Cost", typeof raw.cost_usd === "number" ? `$${raw.cost_usd.toFixed(2)}` : ""], ["Permission mode", clean(raw.permission_mode)], ["Id", clean(raw.id)],
  ];
  return html`<dl class="facts">${rows.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function link(id, word) {
  return id ? html`<p>${word} <a href=${`#/session/${quoted(id)}`}>${clean(id).slice(0, 8)}</a></p>` : null;
}

export function session() {
  const detail = state.detail?.id === state.of ? state.detail : null;
  const fault = detail?.explanation.fault;
  const raw = state.sessions.get(state.of) || state.ended.get(state.of) || detail?.explanation.session;
  const back = html`<p><a href="#/board">← Board</a></p>`;
  if (fault && !raw) return html`${back}<p class="empty">${clean(fault.message)}</p>`;
  if (!raw) return html`${back}<p class="empty">Reading…</p>`;
  const now = state.now, group = groupOf(raw), explained = fault ? null : detail?.explanation;
  const children = [...state.sessions.values()].filter((each) => each.parent === raw.id);
  const told = (detail?.events || []).map((event) => [event, storyOf(event)]).filter(([, text]) => text).reverse();
  const left = (state.leftovers || []).filter((each) => each.session === raw.id);
  return html`${back}
    <article class=${`session ${raw.ended && raw.ended.signal !== null ? "killed" : group.replace(" ", "-")}`} data-session=${raw.id} data-liveness=${raw.liveness}>
      <header><h1><span class="mark" aria-hidden="true">${MARKS[group]}</span> ${nameOf(raw)}</h1>
        <p class="lead"><b class="state">${stateOf(raw, now)}</b> ${raw.ended ? `${span(now - (sinceOf(raw) ?? now))} ago` : `for ${span(now - (sinceOf(raw) ?? now))}`} · ${repoOf(raw)}</p>
        <p class="doing">${doingOf(raw, group)}</p>
        ${(raw.alarms || []).map((alarm) => html`<p class="alarm">! ${clean(alarm)}</p>`)}</header>
      ${resuming(raw)}
      <section><h2>Facts</h2>${facts(raw, now)}</section>
      ${explained ? html`<section><h2>Why do we believe this?</h2><div class="scroll"><table class="beliefs">
        <thead><tr><th scope="col">Belief</th><th scope="col">Value</th><th scope="col">Because</th><th scope="col">Source</th><th scope="col">Age</th></tr></thead>
        <tbody>${belief("Liveness", explained.liveness, now)}${belief("Activity", explained.activity, now)}${belief("Process", explained.binding, now)}${explained.context ? belief("Starting context", explained.context, now) : null}</tbody></table></div>
        <p class="note">${explained.agree ? "Sources agree." : "Sources disagree; the losing evidence is struck through."} Would change it: ${explained.would_change.map(clean).join(", ") || "nothing"}.</p></section>` : null}
      ${(raw.claims || []).length ? html`<section><h2>Holds</h2><ul>${raw.claims.map((item) => html`<li><code>${clean(item)}</code></li>`)}</ul></section>` : null}
      ${(raw.background || []).length || children.length ? html`<section><h2>Beside it</h2><ul>${(raw.background || []).map((work) => html`<li>${clean(work.kind)}: ${clean(work.label)}</li>`)}
        ${children.map((each) => html`<li><a href=${`#/session/${quoted(each.id)}`}>${nameOf(each)}</a>, ${stateOf(each, now)}</li>`)}</ul></section>` : null}
      ${left.length ? html`<section><h2>Left behind</h2><ul>${left.map((each) => html`<li>${clean(each.kind)}: ${whatOf(each)}</li>`)}</ul><p><a href="#/leftovers">Leftovers</a></p></section>` : null}
      ${link(raw.parent, "Started inside")}${link(raw.predecessor, "Continues")}${link(raw.ended?.successor, "Continued as")}
      ${told.length ? html`<section><h2>What happened</h2><ol class="events">${told.map(([event, text]) => html`<li key=${event.seq}><time>${clock(seconds(event.at))}</time> ${text}</li>`)}</ol></section>` : null}
      ${raw.liveness === "alive" && raw.pid ? actions(raw) : null}
    </article>`;
}
