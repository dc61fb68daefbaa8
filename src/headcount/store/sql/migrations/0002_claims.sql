-- One row an item that was ever claimed. It is never deleted: the next fence must be higher than its last.
CREATE TABLE claims (
  item  TEXT PRIMARY KEY NOT NULL,
  fence INTEGER NOT NULL,
  held  INTEGER NOT NULL, -- 1: it has a holder
  body  BLOB NOT NULL
) WITHOUT ROWID;

-- Requests that were granted, so that asking twice is asking once; forgotten with time.
CREATE TABLE requests (
  id   TEXT PRIMARY KEY NOT NULL,
  at   REAL NOT NULL,
  body BLOB NOT NULL
) WITHOUT ROWID;

ALTER TABLE events ADD COLUMN item TEXT;

CREATE INDEX events_by_item ON events (item) WHERE item IS NOT NULL;
