-- Every statement for the shared database, by name. None needs a session: all state is in rows, so a pooler in
-- transaction mode may stand between.

-- name: bound_transaction
-- Local to the transaction. The server ends what a host that was cut off left open, and a commit is on its disk (and
-- on its standby's, if there is one that it waits for) before it is answered, whatever its default is.
SELECT set_config('statement_timeout', %(statement)s, true),
       set_config('idle_in_transaction_session_timeout', %(idle)s, true),
       CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
            THEN set_config('synchronous_commit', 'on', true) END

-- name: lock_migrations
SELECT pg_advisory_xact_lock(%(key)s)

-- name: has_version_table
-- Not by to_regclass, which may answer from a cache of before the lock was waited for.
SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'headcount' AND tablename = 'schema_version')

-- name: make_schema
CREATE SCHEMA IF NOT EXISTS headcount

-- name: make_version_table
CREATE TABLE headcount.schema_version (version integer NOT NULL)

-- name: schema_version
SELECT coalesce(max(version), 0) FROM headcount.schema_version

-- name: keep_version
INSERT INTO headcount.schema_version (version) VALUES (%(version)s)

-- name: enrol
-- A new life of this host: what an earlier one left open is told apart by the epoch. It begins at the time, so that
-- it is never one that was given before, also when the row was deleted meanwhile.
INSERT INTO headcount.hosts (id, name, epoch, version, started_at, renewed_at, expires_at)
VALUES (%(host)s, %(name)s, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, %(version)s, clock_timestamp(), clock_timestamp(),
        clock_timestamp() + make_interval(secs => %(ttl)s))
ON CONFLICT (id) DO UPDATE SET
  name = excluded.name, version = excluded.version, epoch = greatest(hosts.epoch + 1, excluded.epoch),
  started_at = excluded.started_at, renewed_at = excluded.renewed_at, expires_at = excluded.expires_at
RETURNING epoch

-- name: namesake
SELECT id FROM headcount.hosts WHERE name = %(name)s AND id <> %(host)s AND expires_at > clock_timestamp() LIMIT 1

-- name: renew
UPDATE headcount.hosts SET renewed_at = clock_timestamp(), expires_at = clock_timestamp() + make_interval(secs => %(ttl)s)
WHERE id = %(host)s AND epoch = %(epoch)s

-- name: leave
DELETE FROM headcount.hosts WHERE id = %(host)s AND epoch = %(epoch)s

-- name: list_hosts
SELECT h.id, h.name, h.epoch, h.version,
       extract(epoch FROM h.renewed_at)::float8, extract(epoch FROM clock_timestamp() - h.renewed_at)::float8,
       h.expires_at > clock_timestamp(),
       (SELECT count(*) FROM headcount.claims c WHERE c.host = h.id),
       (SELECT count(*) FROM headcount.sessions s WHERE s.host = h.id)
FROM headcount.hosts h ORDER BY h.name, h.id

-- name: forget_hosts
DELETE FROM headcount.hosts h WHERE h.expires_at < clock_timestamp() - make_interval(secs => %(after)s)
AND NOT EXISTS (SELECT FROM headcount.claims c WHERE c.host = h.id)

-- name: forget_sessions_of_nobody
DELETE FROM headcount.sessions s WHERE NOT EXISTS (SELECT FROM headcount.hosts h WHERE h.id = s.host)

-- name: forget_requests
DELETE FROM headcount.requests WHERE at < clock_timestamp() - make_interval(secs => %(after)s)

-- name: forget_events
DELETE FROM headcount.claim_events WHERE at < clock_timestamp() - make_interval(secs => %(after)s)

-- name: lock_item
SELECT fence, host, body, extract(epoch FROM clock_timestamp())::float8
FROM headcount.claims WHERE item = %(item)s FOR UPDATE

-- name: open_item
INSERT INTO headcount.claims (item, fence) VALUES (%(item)s, 0) ON CONFLICT (item) DO NOTHING

-- name: lease_of
-- vouched: its lease holds. over: others may take what it held.
SELECT expires_at > clock_timestamp(),
       expires_at + make_interval(secs => %(lock_delay)s) < clock_timestamp(), epoch
FROM headcount.hosts WHERE id = %(host)s

-- name: lease_of_locked
FOR SHARE

-- name: find_request
SELECT body FROM headcount.requests WHERE id = %(request)s

-- name: waiters_ahead
-- Of hosts whose lease holds; of those who came earlier than that request, or of all if it does not wait yet.
SELECT w.body FROM headcount.waiters w JOIN headcount.hosts h ON h.id = w.host
WHERE w.item = %(item)s AND w.request <> %(request)s
AND h.expires_at > clock_timestamp() AND w.epoch = h.epoch
AND w.arrival < coalesce((SELECT arrival FROM headcount.waiters WHERE request = %(request)s), 9223372036854775807)
ORDER BY w.arrival

-- name: wait_in_line
INSERT INTO headcount.waiters (item, request, host, epoch, body)
VALUES (%(item)s, %(request)s, %(host)s, %(epoch)s, %(body)s) ON CONFLICT (request) DO NOTHING

-- name: leave_line
DELETE FROM headcount.waiters WHERE request = %(request)s

-- name: lines_of_host
SELECT request FROM headcount.waiters WHERE host = %(host)s

-- name: leave_lines
DELETE FROM headcount.waiters WHERE request = ANY(%(closed)s)

-- name: free_item
UPDATE headcount.claims SET host = NULL, body = %(body)s WHERE item = %(item)s AND fence = %(fence)s

-- name: grant_item
-- The counter's row is locked from here to the commit, and that is one round trip away.
WITH bumped AS (
  UPDATE headcount.ledger SET fence = greatest(fence, %(floor)s) + 1 RETURNING fence
)
UPDATE headcount.claims SET fence = bumped.fence, host = %(host)s, body = %(body)s
FROM bumped WHERE claims.item = %(item)s RETURNING claims.fence

-- name: keep_request
INSERT INTO headcount.requests (id, at, body) VALUES (%(request)s, clock_timestamp(), %(body)s)
ON CONFLICT (id) DO UPDATE SET at = excluded.at, body = excluded.body

-- name: forget_request
DELETE FROM headcount.requests WHERE id = %(request)s

-- name: tell
INSERT INTO headcount.claim_events (at, item, host, granted, because, by, body)
VALUES (clock_timestamp(), %(item)s, %(host)s, %(granted)s, %(because)s, %(by)s, %(body)s)

-- name: notify
-- Commits that notify wait for each other in the whole database: only when somebody is to hear it.
SELECT pg_notify(%(channel)s, %(item)s)
WHERE %(always)s OR EXISTS (SELECT FROM headcount.waiters WHERE item = %(item)s)

-- name: claims_of_host
SELECT item, fence, host, body FROM headcount.claims WHERE host = %(host)s

-- name: read_items
SELECT c.item, c.fence, c.host, c.body, h.name, coalesce(h.expires_at > clock_timestamp(), false),
       extract(epoch FROM clock_timestamp() - h.renewed_at)::float8,
       extract(epoch FROM h.expires_at + make_interval(secs => %(lock_delay)s) - clock_timestamp())::float8, s.body
FROM headcount.claims c LEFT JOIN headcount.hosts h ON h.id = c.host
LEFT JOIN headcount.sessions s ON s.host = c.host AND s.id = c.body::json ->> 'session'
WHERE c.item = ANY(%(items)s)

-- name: list_claims
SELECT c.item, c.fence, c.host, c.body, h.name, coalesce(h.expires_at > clock_timestamp(), false),
       extract(epoch FROM clock_timestamp() - h.renewed_at)::float8,
       extract(epoch FROM h.expires_at + make_interval(secs => %(lock_delay)s) - clock_timestamp())::float8, s.body
FROM headcount.claims c LEFT JOIN headcount.hosts h ON h.id = c.host
LEFT JOIN headcount.sessions s ON s.host = c.host AND s.id = c.body::json ->> 'session'
WHERE c.host IS NOT NULL ORDER BY c.fence

-- name: count_waiters
SELECT item, count(*) FROM headcount.waiters GROUP BY item

-- name: item_history
SELECT id, extract(epoch FROM at)::float8, host, granted, because, by, body FROM (
  SELECT * FROM headcount.claim_events WHERE item = %(item)s ORDER BY id DESC LIMIT %(limit)s
) newest ORDER BY id

-- name: need_not_last
-- For this transaction: its rows are sent again whenever the database was away, so a crash may lose them.
SELECT set_config('synchronous_commit', 'off', true)

-- name: keep_sessions
INSERT INTO headcount.sessions (host, id, body)
SELECT %(host)s, given.id, given.body FROM unnest(%(ids)s::text[], %(bodies)s::text[]) AS given (id, body)
ON CONFLICT (host, id) DO UPDATE SET body = excluded.body

-- name: drop_sessions
DELETE FROM headcount.sessions WHERE host = %(host)s AND id = ANY(%(ids)s)

-- name: drop_other_sessions
DELETE FROM headcount.sessions WHERE host = %(host)s AND NOT (id = ANY(%(ids)s))

-- name: list_sessions
SELECT s.host, h.name, h.expires_at > clock_timestamp(),
       extract(epoch FROM clock_timestamp() - h.renewed_at)::float8, s.body
FROM headcount.sessions s JOIN headcount.hosts h ON h.id = s.host ORDER BY h.name, s.id
