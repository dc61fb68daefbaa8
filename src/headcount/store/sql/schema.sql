-- The schema as all migrations together make it; a test compares the two.
-- `sum` is over the row (codec.py); NULL in rows that were last written before there were any.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
, sum INTEGER) WITHOUT ROWID;

-- One row a session; the body is the whole of it, the columns are what SQL needs to see.
CREATE TABLE sessions (
  id           TEXT PRIMARY KEY NOT NULL,
  agent        TEXT NOT NULL,
  conversation TEXT,
  liveness     TEXT NOT NULL,
  started_at   REAL NOT NULL,
  ended_at     REAL,
  machine      TEXT NOT NULL, -- where it began; never updated
  body         BLOB NOT NULL
, sum INTEGER);

CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;

-- The journal: appended at one end, pruned at the other, never updated.
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY NOT NULL,
  at      REAL NOT NULL,
  type    TEXT NOT NULL,
  session TEXT,
  body    BLOB NOT NULL
, item TEXT, sum INTEGER);

-- SQLite appends the rowid, which is seq, to every index: these are (session, seq) and (at, seq).
CREATE INDEX events_by_session ON events (session) WHERE session IS NOT NULL;
CREATE INDEX events_by_time ON events (at);
CREATE INDEX events_by_item ON events (item) WHERE item IS NOT NULL;

-- One row an item that was ever claimed. It is never deleted: the next fence must be higher than its last.
CREATE TABLE claims (
  item  TEXT PRIMARY KEY NOT NULL,
  fence INTEGER NOT NULL,
  held  INTEGER NOT NULL, -- 1: it has a holder
  body  BLOB NOT NULL
, sum INTEGER) WITHOUT ROWID;

-- Requests that were granted, so that asking twice is asking once; forgotten with time.
CREATE TABLE requests (
  id   TEXT PRIMARY KEY NOT NULL,
  at   REAL NOT NULL,
  body BLOB NOT NULL
, sum INTEGER) WITHOUT ROWID;

-- The hash of each token; the token itself is in its session's own private file.
CREATE TABLE tokens (
  hash TEXT PRIMARY KEY NOT NULL,
  body BLOB NOT NULL
, sum INTEGER) WITHOUT ROWID;

-- One row a leftover. It is forgotten with its session; one that nobody remembered left has none.
CREATE TABLE leftovers (
  id      TEXT PRIMARY KEY NOT NULL,
  kind    TEXT NOT NULL,
  session TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  gone_at REAL,
  body    BLOB NOT NULL
, sum INTEGER);

CREATE INDEX leftovers_by_session ON leftovers (session);
