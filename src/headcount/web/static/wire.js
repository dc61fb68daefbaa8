// The wire: a credential for this tab, and questions to the daemon with it.
//
// Rules
//   1. The code leaves the address bar before anything else happens. The credential lives in this tab's session
//      storage: a reload keeps it, another tab or site never sees it.
//   2. Only this origin is ever asked.
//
// Not here: the stream (stream.js), what is done with answers (state.js).

const KEY = "headcount.credential";

let credential = sessionStorage.getItem(KEY);

export class Refused extends Error {
  constructor(status, fault) {
    super(fault?.message || `The daemon answered ${status}.`);
    this.status = status;
    this.code = fault?.code || "";
    this.hint = fault?.hint || "";
  }
}

// Whether this tab is logged in; uses the code of a one-time link if the address has one.
export async function logIn() {
  const code = location.hash.slice(1);
  if (!code || code.startsWith("/")) return credential !== null;
  history.replaceState(null, "", "/#/board");
  const answer = await ask("POST", "/v1/web/login", { code });
  credential = answer.credential;
  sessionStorage.setItem(KEY, credential);
  return true;
}

export function logOut() {
  credential = null;
  sessionStorage.removeItem(KEY);
}

export function headers(more = {}) {
  return credential === null ? more : { authorization: `Bearer ${credential}`, ...more };
}

export async function ask(method, path, body) {
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = method === "POST" ? { "content-type": "application/json" } : {};
  const answer = await fetch(path, { method, headers: headers(type), cache: "no-store", ...given });
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, data?.error);
  return data;
}

let routes = null;

// An answer, or nothing where this daemon has no such route, by its own list of them.
export async function askIfThere(path) {
  routes ??= new Set(Object.keys((await ask("GET", "/openapi.json")).paths));
  return routes.has(path.split("?")[0]) ? ask("GET", path) : null;
}

// Whether this daemon has that route, as far as was asked.
export function hasRoute(path) {
  return routes !== null && routes.has(path);
}

// After a restart it may be another version.
export function forgetRoutes() {
  routes = null;
}
