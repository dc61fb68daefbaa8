-- The hash of each token; the token itself is in its session's own private file.
CREATE TABLE tokens (
  hash TEXT PRIMARY KEY NOT NULL,
  body BLOB NOT NULL
) WITHOUT ROWID;
