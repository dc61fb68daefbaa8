// headcount: tells headcount what this OpenCode does. `headcount hooks install` wrote it; `headcount hooks uninstall`
// takes it away. It writes small files into one directory and does nothing else: it contacts nobody, waits for
// nobody, and no prompt, answer or file content leaves it.
import { promises as fs, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const MAILBOX = "@MAILBOX@"
const FLAG = join(MAILBOX, ".listening")
const SHOWN = ["command", "filePath", "filepath", "pattern", "path", "url", "query", "description"]
const WAITING_MOST = 500 // a disk that hangs must not fill the memory of the agent
const KNOWN_MOST = 2000
const DATABASE = join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode", "opencode.db")

let self = "" // the kernel's word on this process, read once: its pid and its start never change
try {
  self = readFileSync("/proc/self/stat", "utf8").trim()
} catch {}

let tick = 0 // microseconds, growing with every report: two of one millisecond keep their order
let waiting = 0
let queue = Promise.resolve()
const sessions = new Map() // id -> what was told of it
const status = new Map() // id -> the last status that was reported
const over = new Map() // id -> how its turn ended, until the next one begins

async function write(name, body, quiet) {
  if (quiet) await fs.access(FLAG)
  const beside = join(MAILBOX, "." + name)
  await fs.writeFile(beside, self + "\n" + body, { mode: 0o600, flag: "wx" })
  await fs.rename(beside, join(MAILBOX, name))
}

function drop(report, quiet) {
  if (waiting >= WAITING_MOST) return
  tick = Math.max(Date.now() * 1000, tick + 1)
  const body = JSON.stringify({ ...report, at: tick / 1e6, database: DATABASE })
  const name = process.pid + "." + tick
  waiting += 1
  queue = queue
    .then(() => write(name, body, quiet))
    .catch(() => {})
    .then(() => {
      waiting -= 1
    })
}

function learn(info) {
  if (!info || typeof info.id !== "string") return false
  const fresh = !sessions.has(info.id)
  if (fresh && sessions.size >= KNOWN_MOST) sessions.delete(sessions.keys().next().value)
  sessions.set(info.id, { parent: info.parentID, directory: info.directory, agent: info.agent })
  return fresh
}

function root(id) {
  for (let depth = 0; depth < 16; depth += 1) {
    const parent = sessions.get(id)?.parent
    if (!parent) break
    id = parent
  }
  return id
}

function shown(given) {
  const found = {}
  for (const name of SHOWN) if (typeof given?.[name] === "string") found[name] = given[name].slice(0, 1000)
  return found
}

function tell(directory, event, id, more, quiet) {
  if (typeof id !== "string") return
  const main = root(id)
  const told = { event, session: main, directory: sessions.get(main)?.directory ?? directory, ...more }
  drop(main === id ? told : { ...told, subagent: id, agent: sessions.get(id)?.agent }, quiet)
}

function asked(questions) {
  const first = Array.isArray(questions) ? questions[0] : undefined
  const header = typeof first?.header === "string" ? first.header.slice(0, 80) : undefined
  return { header, options: first?.options?.length, questions: questions?.length }
}

const EVENTS = {
  "session.created": (say, p) => {
    learn(p.info)
    say(p.info?.id)
  },
  "session.updated": (say, p) => {
    if (learn(p.info)) say(p.info?.id)
  },
  "session.deleted": (say, p) => say(p.info?.id ?? p.sessionID),
  "session.compacted": (say, p) => say(p.sessionID),
  "session.status": (say, p) => {
    const now = p.status?.type
    if (now === "busy") over.delete(p.sessionID)
    if (now === "idle" || status.get(p.sessionID) === now) return
    status.set(p.sessionID, now)
    say(p.sessionID, { status: now })
  },
  "session.idle": (say, p) => {
    status.delete(p.sessionID)
    const how = over.get(p.sessionID)
    over.set(p.sessionID, how ?? "told")
    if (how === undefined || how === "rejected") say(p.sessionID, { rejected: how === "rejected" })
    if (how === "rejected") over.set(p.sessionID, "told")
  },
  "session.error": (say, p) => {
    over.set(p.sessionID, "told")
    say(p.sessionID, { error: p.error?.name, code: p.error?.data?.statusCode })
  },
  "permission.asked": (say, p) => say(p.sessionID, { tool: p.permission, args: shown(p.metadata) }),
  "permission.replied": (say, p) => {
    if (p.reply === "reject") over.set(p.sessionID, "rejected")
    say(p.sessionID, { reply: p.reply })
  },
  "question.asked": (say, p) => say(p.sessionID, asked(p.questions)),
  "question.replied": (say, p) => say(p.sessionID),
  "question.rejected": (say, p) => {
    over.set(p.sessionID, "rejected")
    say(p.sessionID)
  },
}

function safely(work) {
  return async (...given) => {
    try {
      work(...given)
    } catch {}
  }
}

export const Headcount = async ({ directory }) => ({
  event: safely(({ event }) => {
    const hear = Object.hasOwn(EVENTS, event.type) ? EVENTS[event.type] : undefined
    hear?.((id, more) => tell(directory, event.type, id, more, false), event.properties ?? {})
  }),
  "chat.message": safely((input) => {
    over.delete(input.sessionID)
    tell(directory, "chat.message", input.sessionID, { model: input.model?.modelID }, false)
  }),
  "tool.execute.before": safely((input, output) => {
    const more = { tool: input.tool, args: shown(output?.args) }
    tell(directory, "tool.execute.before", input.sessionID, more, true)
  }),
  "tool.execute.after": safely((input) => {
    const more = { tool: input.tool, args: shown(input.args) }
    tell(directory, "tool.execute.after", input.sessionID, more, true)
  }),
  "shell.env": safely((input, output) => {
    if (typeof input.sessionID === "string") output.env.OPENCODE_SESSION_ID = root(input.sessionID)
  }),
})
