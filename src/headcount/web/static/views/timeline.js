// The timeline: a lane a session, coloured by what it did; deaths and claims marked; hatched where nobody looked.
//
// Rules
//   1. What is drawn is what the daemon answered (/v1/timeline); nothing is filled in between.
//   2. Places are percentages of the stretch that is shown, so that it fits any width.
//
// Not here: what a span is (core/timeline.py).

import { html, part } from "../dom.js";
import { readTimeline } from "../hearing.js";
import { change, matches, state } from "../state.js";
import { clean, clock, exactSpan, quoted, repoOf, saidItem, seconds, SHORTEST_ID, span } from "../words.js";

const RANGES = [[900, "15m"], [1800, "30m"], [7200, "2h"], [28800, "8h"], [86400, "1d"], [604800, "7d"]];
const LANES_MOST = 120;
const STEPS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const URGENCY = { waiting: 0, failed: 1, done: 2, working: 3, unknown: 4, idle: 5 };
const WORDS = { waiting: "waited for you", failed: "stopped", done: "done", working: "working", idle: "idle", unknown: "unknown" };

// An unnamed one by its id as everywhere, and by where it works.
function nameOf(lane) {
  return clean(lane.name) || `${clean(lane.session).slice(0, SHORTEST_ID)} ${repoOf(lane)}`;
}

const percent = (at, since, to) => Math.min(100, Math.max(0, ((at - since) / (to - since)) * 100));

function bar(each, since, to) {
  const from = percent(seconds(each.since), since, to), until = percent(seconds(each.to), since, to);
  return { left: `${from.toFixed(3)}%`, width: `${Math.max(0.15, until - from).toFixed(3)}%` };
}

function tipOf(lane, each) {
  const from = seconds(each.since), until = seconds(each.to);
  const what = each.waiting_on ? `waited for you: ${clean(each.waiting_on)}` : WORDS[each.activity] || clean(each.activity);
  return [nameOf(lane), `${what}, ${exactSpan(until - from)}`, `${clock(from)} – ${clock(until)}`, clean(each.doing)];
}

const at = (lines) => (event) => change({ tip: { x: event.clientX, y: event.clientY, lines: lines().filter(Boolean) } });
const away = () => change({ tip: null });

const Lane = part(({ lane, since, to }) => {
  const name = nameOf(lane);
  const totals = {};
  for (const each of lane.spans) totals[each.activity] = (totals[each.activity] || 0) + seconds(each.to) - seconds(each.since);
  const said = Object.entries(totals).map(([word, length]) => `${WORDS[word] || word} ${span(length)}`).join(", ");
  const ended = lane.ended ? seconds(lane.ended.at) : null;
  return html`
    <li class="lane" data-session=${lane.session} data-liveness=${lane.liveness}>
      <a class="who" href=${`#/session/${quoted(lane.session)}`} aria-label=${`${name}: ${said || "nothing seen"}${lane.ended ? `; ${clean(lane.ended.because)}` : ""}`}>${name}</a>
      <div class="track" aria-hidden="true">
        ${lane.spans.map((each) => html`<i class=${`span a-${WORDS[each.activity] ? each.activity : "unknown"}`} style=${bar(each, since, to)} onMouseMove=${at(() => tipOf(lane, each))} onMouseLeave=${away}></i>`)}
        ${lane.claims.map((held) => {
          const from = percent(seconds(held.since), since, to);
          const until = held.to ? percent(seconds(held.to), since, to) : 100;
          const lines = () => [name, `held ${saidItem(held.item)} (claim #${held.fence})`, held.to ? `until ${clock(seconds(held.to))}: ${clean(held.because)}` : "still held"];
          return html`<i class="held" style=${{ left: `${from}%`, width: `${Math.max(0.3, until - from)}%` }} onMouseMove=${at(lines)} onMouseLeave=${away}></i>`;
        })}
        ${ended === null ? null : html`<i class=${`death ${lane.ended.signal === null ? "" : "killed"}`} style=${{ left: `${percent(ended, since, to)}%` }}
          onMouseMove=${at(() => [name, clean(lane.ended.because), clock(ended)])} onMouseLeave=${away}>${lane.ended.signal === null ? "┃" : "✗"}</i>`}
      </div>
    </li>`;
});

function ticks(since, to) {
  const step = STEPS.find((each) => (to - since) / each <= 8) || 172800;
  const shift = new Date().getTimezoneOffset() * 60;
  const found = [];
  for (let moment = Math.ceil((since - shift) / step) * step + shift; moment < to; moment += step) found.push(moment);
  return found;
}

function go(range, until = null) {
  change({ range: Math.min(604800, Math.max(300, range)), until, ranged: true });
  readTimeline().catch(() => {});
}

function shift(part) {
  const until = (state.until ?? state.now) + state.range * part;
  go(state.range, until >= state.now - 1 ? null : until);
}

function wheel(event) {
  if (!event.ctrlKey && !event.shiftKey) return;
  event.preventDefault();
  go(state.range * (event.deltaY > 0 ? 1.25 : 0.8), state.until);
}

export function zoom(factor) {
  go(state.range * factor, state.until);
}

export { shift };

export function timeline() {
  const shown = state.timeline;
  const tools = html`
    <h1 class="hidden">Timeline</h1>
    <div class="tools">
      <div class="ranges" role="group" aria-label="How much time is shown">
        ${RANGES.map(([range, word]) => html`<button aria-pressed=${String(state.range === range)} onClick=${() => go(range)}>${word}</button>`)}
      </div>
      <div class="ranges" role="group" aria-label="Move through time">
        <button aria-label="Earlier" onClick=${() => shift(-0.5)}>←</button><button aria-label="Later" onClick=${() => shift(0.5)} disabled=${state.until === null}>→</button>
        <button onClick=${() => go(state.range)} disabled=${state.until === null}>now</button>
        <button aria-label="Zoom in" onClick=${() => zoom(0.5)}>+</button><button aria-label="Zoom out" onClick=${() => zoom(2)}>−</button>
      </div>
      <ul class="legend" aria-label="Colours">
        ${["waiting", "failed", "done", "working", "idle", "unknown"].map((each) => html`<li><i class=${`a-${each}`}></i>${WORDS[each]}</li>`)}
        <li><i class="held"></i>held a claim</li><li><i class="blind"></i>not seen</li><li><i class="sign">✗</i>killed</li>
      </ul>
    </div>`;
  if (!shown) return html`${tools}<p class="empty">Reading…</p>`;
  const since = seconds(shown.since), to = seconds(shown.to);
  const fits = shown.lanes.filter((lane) => matches(lane, state.filter)).sort((a, b) => rank(a) - rank(b));
  const lanes = fits.slice(0, LANES_MOST);
  return html`${tools}
    ${shown.whole ? null : html`<p class="empty">So much happened that the beginning is left out. Show less time.</p>`}
    <div class="timeline" onWheel=${wheel}>
      <div class="axis" aria-hidden="true">${ticks(since, to).map((moment) => html`<span style=${{ left: `${percent(moment, since, to)}%` }}>${clock(moment, false)}</span>`)}</div>
      <div class="ticks" aria-hidden="true">${ticks(since, to).map((moment) => html`<i class="tick" style=${{ left: `${percent(moment, since, to)}%` }}></i>`)}</div>
      <div class="blinds" aria-hidden="true">
        ${shown.blind.map((each) => html`<i class="blind" style=${bar(each, since, to)}></i>`)}
      </div>
      <ol class="lanes">${lanes.map((lane) => html`<${Lane} key=${lane.session} lane=${lane} since=${since} to=${to} />`)}</ol>
    </div>
    ${shown.blind.length ? html`<p class="note">Hatched: headcount was not running and saw nothing (${shown.blind.map((each) => `${clock(seconds(each.since))} – ${clock(seconds(each.to))}`).slice(0, 3).join(", ")}${shown.blind.length > 3 ? ", …" : ""}).</p>` : null}
    ${lanes.length ? null : html`<p class="empty">Nothing happened in this time.</p>`}
    ${fits.length > lanes.length ? html`<p class="note">${fits.length - lanes.length} more lanes; filter on the board with /.</p>` : null}`;
}

function rank(lane) {
  return lane.liveness === "ended" ? 9 : URGENCY[lane.activity] ?? 4;
}
