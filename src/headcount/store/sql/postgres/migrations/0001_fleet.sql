-- One row a host: its lease is on this database's clock. An epoch is one life of its daemon.
CREATE TABLE headcount.hosts (
  id         text PRIMARY KEY,
  name       text NOT NULL,
  epoch      bigint NOT NULL,
  version    text NOT NULL,
  started_at timestamptz NOT NULL,
  renewed_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);

-- The one line of fences. Its row is locked from the grant to the commit, so that numbers grow as grants do.
CREATE TABLE headcount.ledger (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  fence    bigint NOT NULL
);
INSERT INTO headcount.ledger (fence) VALUES ((extract(epoch FROM clock_timestamp()) * 1000)::bigint);

-- One row an item that was ever claimed. It is never deleted: the next fence must be higher than its last.
CREATE TABLE headcount.claims (
  item  text PRIMARY KEY,
  fence bigint NOT NULL,
  host  text, -- null: nobody holds it
  body  text -- null: locked for the first time
);
CREATE INDEX claims_by_host ON headcount.claims (host) WHERE host IS NOT NULL;

-- Requests that were granted, so that asking twice is asking once; forgotten with time.
CREATE TABLE headcount.requests (
  id   text PRIMARY KEY,
  at   timestamptz NOT NULL,
  body text NOT NULL
);
CREATE INDEX requests_by_time ON headcount.requests (at);

-- Who waits, in order of arrival. A row counts while its host's lease does.
CREATE TABLE headcount.waiters (
  arrival bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item    text NOT NULL,
  request text NOT NULL UNIQUE,
  host    text NOT NULL,
  epoch   bigint NOT NULL,
  body    text NOT NULL
);
CREATE INDEX waiters_by_item ON headcount.waiters (item, arrival);
CREATE INDEX waiters_by_host ON headcount.waiters (host);

-- What became of each item.
CREATE TABLE headcount.claim_events (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL,
  item    text NOT NULL,
  host    text NOT NULL,
  granted boolean NOT NULL,
  because text,
  by      text,
  body    text NOT NULL
);
CREATE INDEX claim_events_by_item ON headcount.claim_events (item, id);
CREATE INDEX claim_events_by_time ON headcount.claim_events (at);

-- The roster: each host's sessions as that host shows them.
CREATE TABLE headcount.sessions (
  host text NOT NULL,
  id   text NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (host, id)
);
