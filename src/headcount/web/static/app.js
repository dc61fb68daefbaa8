// The page: log in, follow the stream, draw what is known.
//
// Rules of this file
//   1. One state, one drawing: whatever changes, `page` draws the whole and only what differs is touched.
//   2. A lost connection is on the screen before anything else, with its age.
//
// Not here: state (state.js), the views (views/), keys (keys.js).

import { html, render } from "./dom.js";
import { focusRow, listen } from "./keys.js";
import { act, change, drawWith, heard, refreshAll, refreshView, state, tick } from "./state.js";
import { follow } from "./stream.js";
import { board } from "./views/board.js";
import { claims, fleet, leftovers, today } from "./views/lists.js";
import { session } from "./views/session.js";
import { timeline } from "./views/timeline.js";
import { forgetRoutes, logIn, logOut } from "./wire.js";
import { bytes, exactSpan, groupOf, memoryOf } from "./words.js";

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
  const age = exactSpan(state.now - state.lostAt);
  return html`<p class="banner" role="alert">Connection lost ${age} ago. What you see is from then; trying again.</p>`;
}

function footer() {
  const alarms = [...state.sessions.values()].reduce((sum, raw) => sum + (raw.alarms || []).length, 0);
  const contested = (state.claims?.claims || []).filter((claim) => claim.waiting).length;
  const left = state.leftovers || [];
  const held = left.reduce((sum, each) => sum + memoryOf(each), 0);
  const parts = [
    alarms ? html`<b class="bad">${alarms} ${alarms === 1 ? "alarm" : "alarms"}</b>` : "no alarms",
    contested ? html`<a href="#/claims">${contested} contested ${contested === 1 ? "claim" : "claims"}</a>` : "no contested claims",
    left.length ? html`<a href="#/leftovers">${left.length} left behind${held ? `, ${bytes(held)}` : ""}</a>` : "nothing left behind",
  ];
  return html`<footer><span>${parts[0]}</span><span>${parts[1]}</span><span>${parts[2]}</span>
    ${state.held ? html`<span class="held-word">order held · Esc</span>` : null}
    <button class="plain" onClick=${() => change({ help: true })}>? keys</button></footer>`;
}

const HELP = [["j k", "down, up"], ["n", "next that needs me"], ["Enter", "open"], ["/", "filter"], ["1 – 5", "views"], ["+ − ← →", "zoom, move (timeline)"], ["Esc", "back, let go"], ["?", "this"]];

function over() {
  if (state.help) {
    return html`<div class="veil" onClick=${() => change({ help: false })}><div class="dialog" role="dialog" aria-modal="true" aria-label="Keys">
      <h2>Keys</h2><dl class="keys">${HELP.map(([key, word]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${word}</dd></div>`)}</dl></div></div>`;
  }
  const asked = state.dialog;
  if (!asked) return null;
  return html`<div class="veil"><div class="dialog" role="alertdialog" aria-modal="true" aria-label=${asked.title}>
    <h2>${asked.title}?</h2>${asked.lines.map((line) => html`<p>${line}</p>`)}<p class="note">The same by hand: <code>${asked.command}</code></p>
    <p class="choice"><button id="no" onClick=${() => change({ dialog: null })}>Leave it</button> <button class="danger" onClick=${() => act(asked.doing)}>${asked.word}</button></p></div></div>`;
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

function page() {
  if (state.login !== "in") return alone();
  return html`<header class="top"><a class="brand" href="#/board">Headcount</a>${tabs()}${connection()}</header>
    ${banner()}
    <main class=${`view-${state.view}`} tabindex="-1">${(VIEWS[state.view] || board)()}</main>
    ${footer()}${over()}${tip()}
    ${state.notice && state.notice.text.trim() ? html`<p class=${`notice ${state.notice.bad ? "bad" : ""}`} role="status" onClick=${() => change({ notice: null })}>${state.notice.text}</p>` : null}`;
}

function drawn() {
  render(page(), document.getElementById("page"));
  const needing = [...state.sessions.values()].filter((raw) => groupOf(raw) === "needs you").length;
  const title = `${needing ? `(${needing}) ` : ""}Headcount`;
  if (document.title !== title) document.title = title;
  if (state.dialog && !document.querySelector(".dialog").contains(document.activeElement)) document.getElementById("no").focus();
  keepSelection();
}

// A row that was drawn anew keeps the focus that it had.
function keepSelection() {
  if (!state.selected || !state.held || document.activeElement !== document.body) return;
  focusRow(document.querySelector(`main [data-session="${CSS.escape(state.selected)}"] > a`));
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
  change({ view: known, of: id, tip: null, history: null, ...(changed ? { held: null } : {}) });
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
  setInterval(tick, EVERY_SECOND);
  setInterval(() => { if (state.connection === "live") refreshAll(); }, TODAY_EVERY * EVERY_SECOND);
  follow({
    event: heard,
    live: () => { const back = state.connection === "lost"; change({ connection: "live" }); if (back) { forgetRoutes(); refreshAll(); } },
    lost: () => change((now) => ({ connection: "lost", lostAt: now.connection === "lost" ? now.lostAt : Date.now() / 1000 })),
    refused: () => { logOut(); change({ login: "needed" }); },
  });
}

start();
