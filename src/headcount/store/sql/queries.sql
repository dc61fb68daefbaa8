-- Every statement of the store, by name. `name:` opens a block, the next one ends it.

-- name: remember
INSERT INTO meta (key, value, sum) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, sum = excluded.sum

-- name: recall
SELECT key, value, sum FROM meta

-- name: load_sessions
SELECT id, agent, conversation, liveness, started_at, ended_at, machine, body, sum FROM sessions ORDER BY started_at, id

-- name: newest_events
SELECT seq, at, type, session, item, body, sum FROM events ORDER BY seq DESC LIMIT :limit

-- name: oldest_events
SELECT seq, at, type, session, item, body, sum FROM events ORDER BY seq LIMIT :limit

-- name: append_event
INSERT INTO events (seq, at, type, session, item, body, sum) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: all_events
SELECT seq, at, type, session, item, body, sum FROM events ORDER BY seq

-- name: keep_session
-- The machine is where the session began, so an update leaves it alone; the sum is over that one.
INSERT INTO sessions (id, agent, conversation, liveness, started_at, ended_at, machine, body, sum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
  agent = excluded.agent,
  conversation = excluded.conversation,
  liveness = excluded.liveness,
  started_at = excluded.started_at,
  ended_at = excluded.ended_at,
  body = excluded.body,
  sum = excluded.sum

-- name: clean_session
UPDATE sessions SET body = ?, sum = ? WHERE id = ?

-- name: events_to_clean
-- Those with a field that may hold text; all others are passed over here, since there may be a million.
SELECT seq, at, type, session, item, body, sum FROM events WHERE seq > :after AND (
  instr(body, CAST('"name"' AS BLOB)) OR instr(body, CAST('"title"' AS BLOB)) OR instr(body, CAST('"alarm' AS BLOB))
  OR instr(body, CAST('"background"' AS BLOB)) OR instr(body, CAST('"failure"' AS BLOB))
) ORDER BY seq LIMIT :limit

-- name: clean_event
UPDATE events SET body = ?, sum = ? WHERE seq = ?

-- name: drop_session
DELETE FROM sessions WHERE id = ?

-- name: history
SELECT seq, at, type, session, item, body, sum FROM events WHERE seq > :after

-- name: history_until
AND seq <= :until

-- name: history_session
AND session = :session

-- name: history_item
AND item = :item

-- name: history_types
AND type IN (SELECT value FROM json_each(:types))

-- name: history_since
-- Beside the floor below: times need not grow with seq. The plus keeps the walk in order of seq.
AND +at >= :since

-- name: history_oldest_first
ORDER BY seq LIMIT :limit

-- name: history_newest_first
ORDER BY seq DESC LIMIT :limit

-- name: first_since
-- By the index on time: asked for min(seq), SQLite would walk the table from its beginning.
SELECT min(seq) FROM events INDEXED BY events_by_time WHERE at >= :since

-- name: latest_numbers
-- From the index alone: a second witness of which numbers were given.
SELECT seq FROM events INDEXED BY events_by_time ORDER BY at DESC LIMIT :limit

-- name: oldest_seq
SELECT min(seq) FROM events

-- name: first_young_event
-- A time in the future is a clock that was wrong, and holds nothing back.
SELECT min(seq) FROM events INDEXED BY events_by_time WHERE at BETWEEN :before AND :now

-- name: forget_events
-- Only from the old end, so that what is left has no gap; the newest stays, it holds the number.
DELETE FROM events WHERE seq IN (
  SELECT seq FROM events WHERE seq < :below AND seq < (SELECT max(seq) FROM events)
  ORDER BY seq LIMIT :limit
)

-- name: forget_sessions
DELETE FROM sessions WHERE id IN (
  SELECT id FROM sessions WHERE ended_at < :before ORDER BY ended_at LIMIT :limit
)

-- name: load_claims
SELECT item, fence, held, body, sum FROM claims ORDER BY item

-- name: load_requests
SELECT id, at, body, sum FROM requests ORDER BY at, id

-- name: keep_claim
-- A fence that does not grow changes no row, and the writer then fails the commit.
INSERT INTO claims (item, fence, held, body, sum) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (item) DO UPDATE SET
  fence = excluded.fence, held = excluded.held, body = excluded.body, sum = excluded.sum
WHERE excluded.fence > fence OR (excluded.fence = fence AND excluded.held < held)

-- name: keep_request
INSERT INTO requests (id, at, body, sum) VALUES (?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET at = excluded.at, body = excluded.body, sum = excluded.sum

-- name: forget_request
DELETE FROM requests WHERE id = ?

-- name: load_tokens
SELECT hash, body, sum FROM tokens

-- name: keep_token
INSERT INTO tokens (hash, body, sum) VALUES (?, ?, ?)
ON CONFLICT (hash) DO UPDATE SET body = excluded.body, sum = excluded.sum

-- name: drop_token
DELETE FROM tokens WHERE hash = ?

-- name: load_leftovers
SELECT id, kind, session, gone_at, body, sum FROM leftovers ORDER BY id

-- name: keep_leftover
INSERT INTO leftovers (id, kind, session, gone_at, body, sum) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET gone_at = excluded.gone_at, body = excluded.body, sum = excluded.sum

-- name: drop_leftover
DELETE FROM leftovers WHERE id = ?
