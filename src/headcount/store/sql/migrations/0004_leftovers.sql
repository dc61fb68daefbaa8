-- One row a leftover. It is forgotten with its session; one that nobody remembered left has none.
CREATE TABLE leftovers (
  id      TEXT PRIMARY KEY NOT NULL,
  kind    TEXT NOT NULL,
  session TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  gone_at REAL,
  body    BLOB NOT NULL
);

CREATE INDEX leftovers_by_session ON leftovers (session);
