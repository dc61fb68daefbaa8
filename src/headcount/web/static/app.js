// The page: log in, follow the stream, draw what is known.
//
// Rules
//   1. One state, one drawing: whatever changes, `page` draws the whole and only what differs is touched.
//   2. A lost connection is on the screen before anything else, with its age.
//   3. The focus is never lost when something is drawn anew.
//
// Not here: state (state.js), the views (views/), keys (keys.js).

import { html, render } from "./dom.js";
import { heard, lookAgain, refreshAll, refreshView } from "./hearing.js";
import { focusRow, listen } from "./keys.js";
import { held, memory } from "./remains.js";
import { change, drawWith, state, tick } from "./state.js";
import { follow } from "./stream.js";
import { board } from "./views/board.js";
import { claims } from "./views/claims.js";
import { fleet } from "./views/fleet.js";
import { leftovers } from "./views/leftovers.js";
import { over } from "./views/over.js";
import { session } from "./views/session.js";
import { timeline } from "./views/timeline.js";
import { today } from "./views/today.js";
import { forgetRoutes, logIn, logOut } from "./wire.js";
import { exactSpan, groupOf } from "./words.js";

const VIEWS = { board, timeline, claims, leftovers, today, fleet, session };
const TABS = [["board", "Board"], ["timeline", "Timeline"], ["claims", "Claims"], ["leftovers", "Leftovers"], ["today", "Today"]];
const EVERY_SECOND = 1000, TODAY_EVERY = 60;

function tabs() {
  const shown = state.fleet?.joined ? [...TABS, ["fleet", "Fleet"]] : TABS;
  return html`<nav aria-label="Views">${shown.map(([view, word]) => html`<a href=${`#/${view}`} aria-current=${state.view === view ? "page" : null}>${word}</a>`)}</nav>`;
}

function connection() {
  if (state.connection === "live") return html`<span class="live" role="status">live</span>`;
  return html`<span class="waiting" role="status">${state.connection === "lost" ? "lost" : "connecting"}</span>`;
}

function banner() {
  if (state.connection !== "lost") return null;
  const age = exactSpan(state.now - state.lostAt); // beside the alert, not in it: it would be read out every second
  return html`<p class="banner"><span role="alert">Connection lost; trying again.</span> <span>What you see is ${age} old.</span>
    <span>If the daemon was stopped or restarted, this page has ended. Open a new one with <code>headcount web</code>.</span></p>`;
}

function footer() {
  const alarms = [...state.sessions.values()].reduce((sum, raw) => sum + (raw.alarms || []).length, 0);
  const contested = (state.claims?.claims || []).filter((claim) => claim.waiting).length;
  const left = state.leftovers || [];
  const parts = [
    alarms ? html`<b class="bad">${alarms} ${alarms === 1 ? "alarm" : "alarms"}</b>` : "no alarms",
    contested ? html`<a href="#/claims">${contested} contested ${contested === 1 ? "claim" : "claims"}</a>` : "no contested claims",
    left.length ? html`<a href="#/leftovers">${left.length} left behind${held(left) ? `, ${memory(held(left))}` : ""}</a>` : "nothing left behind",
  ];
  return html`<footer><span>${parts[0]}</span><span>${parts[1]}</span><span>${parts[2]}</span>
    ${state.held ? html`<span class="held-word">order held · Esc</span>` : null}
    <button class="plain" onClick=${() => change({ help: true })}>? keys</button></footer>`;
}

function tip() {
  if (!state.tip) return null;
  const left = Math.min(state.tip.x + 12, window.innerWidth - 260);
  return html`<div class="tip" style=${{ left: `${Math.max(4, left)}px`, top: `${state.tip.y + 14}px` }} aria-hidden="true">${state.tip.lines.map((line, nth) => (nth ? html`<span>${line}</span>` : html`<b>${line}</b>`))}</div>`;
}

function alone() {
  if (state.login === "checking") return html`<main class="alone"><p>Reading…</p></main>`;
  return html`<main class="alone"><h1>Headcount</h1><p>${state.loginWhy || "This page is not logged in, or no longer."}</p>
    <p>In a shell, outside every agent:</p><p class="command"><code>headcount web</code></p></main>`;
}

// For who listens: what matters changes seldom, and is said once.
function spoken(needing) {
  const alarms = [...state.sessions.values()].flatMap((raw) => raw.alarms || []).length;
  const said = [needing ? `${needing} ${needing === 1 ? "agent needs" : "agents need"} you` : "", alarms ? `${alarms} ${alarms === 1 ? "alarm" : "alarms"}` : ""];
  return html`<p class="hidden" role="status">${said.filter(Boolean).join(", ")}</p>`;
}

function page(needing) {
  if (state.login !== "in") return alone();
  return html`<header class="top"><a class="brand" href="#/board">Headcount</a>${tabs()}${connection()}</header>
    ${banner()}
    <main class=${`view-${state.view}`} tabindex="-1">${(VIEWS[state.view] || board)()}</main>
    ${footer()}${spoken(needing)}${over()}${tip()}
    ${state.notice ? html`<p class=${`notice ${state.notice.bad ? "bad" : ""}`} role="status" onClick=${() => change({ notice: null })}>${state.notice.text}</p>` : null}`;
}

// A page that cannot draw must not stand there as if all were well.
function drawn() {
  try {
    draw();
  } catch (fault) {
    console.error(fault);
    render(null, document.getElementById("page"));
    render(html`<main class="alone"><h1>Headcount</h1><p role="alert">This page could not draw what it was told, and shows nothing rather than what was.</p>
      <p>The same in a shell:</p><p class="command"><code>headcount ps</code></p></main>`, document.getElementById("page"));
  }
}

function draw() {
  const needing = [...state.sessions.values()].filter((raw) => groupOf(raw) === "needs you").length;
  render(page(needing), document.getElementById("page"));
  const title = `${needing ? `(${needing}) ` : ""}Headcount`;
  if (document.title !== title) document.title = title;
  keepFocus();
  if (state.then?.view === state.view) {
    const { doing } = state.then;
    state.then = null;
    doing();
  }
}

// Focus is never lost: a row that was drawn anew keeps it, back on the board it is on the row one came from, and in
// another view it is at its beginning.
function keepFocus() {
  const isLost = document.activeElement === document.body || document.activeElement.tagName === "MAIN";
  const row = state.selected && document.querySelector(`main [data-session="${CSS.escape(state.selected)}"] > a`);
  if (isLost && row && (state.held || (state.arrived && state.view === "board"))) focusRow(row);
  else if (state.arrived && isLost) document.querySelector("main")?.focus({ preventScroll: true });
  state.arrived = false;
}

function route() {
  if (location.hash.length > 1 && !location.hash.startsWith("#/")) {
    location.reload(); // a link with a code was opened in this very tab: log in anew
    return;
  }
  const [, view = "board", of] = location.hash.slice(1).split("/");
  const known = Object.hasOwn(VIEWS, view) ? view : "board";
  const changed = known !== state.view;
  let id = null;
  try { id = of ? decodeURIComponent(of) : null; } catch { id = of; }
  const arrived = state.login === "in" && (changed || id !== state.of);
  change({ view: known, of: id, tip: null, history: null, arrived, ...(changed ? { held: null } : {}) });
  if (changed) window.scrollTo(0, 0);
  if (state.login === "in") refreshView();
}

async function start() {
  drawWith(drawn);
  listen();
  try {
    const isIn = await logIn();
    change({ login: isIn ? "in" : "needed" });
  } catch (fault) {
    change({ login: "needed", loginWhy: fault.message });
  }
  route();
  window.addEventListener("hashchange", route);
  if (state.login !== "in") return;
  setInterval(() => { tick(); lookAgain(); }, EVERY_SECOND);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refreshAll(); });
  setInterval(() => { if (state.connection === "live" && !document.hidden) refreshAll(); }, TODAY_EVERY * EVERY_SECOND);
  follow({
    event: heard,
    live: () => { const back = state.connection === "lost"; change({ connection: "live" }); if (back) { forgetRoutes(); refreshAll(); } },
    lost: (since) => change({ connection: "lost", lostAt: since / 1000 }),
    refused: () => { logOut(); change({ login: "needed", loginWhy: "This page has ended: the daemon was stopped or restarted, the page was closed, or a day has passed." }); },
  });
}

start();
