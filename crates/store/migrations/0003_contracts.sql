-- What is kept of contracts that are, or were, not the pinned ones: one row for each, `body` says how it stands as JSON.
-- `pinned` is the digest of the pinned bytes that it was compared with; each pin has rows of its own.
CREATE TABLE drifts (
    upstream TEXT NOT NULL,
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    pinned   TEXT NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (upstream, kind, name, pinned)
) STRICT, WITHOUT ROWID;

-- Every version of a contract that was ever in use, so that a lock cannot bring back an older one, or another one under
-- the same number.
CREATE TABLE pinned_versions (
    upstream TEXT NOT NULL,
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    version  INTEGER NOT NULL,
    digest   TEXT NOT NULL,
    PRIMARY KEY (upstream, kind, name, version)
) STRICT, WITHOUT ROWID;

-- Results that did not fit their pinned output schema, while they count.
CREATE TABLE violations (
    upstream TEXT NOT NULL,
    name     TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT;
CREATE INDEX violations_tool ON violations (upstream, name, at);

-- Calls by tenant, tool (as evidence names it) and contract version, added up. `latencies` is a JSON array of counts.
CREATE TABLE observations (
    tenant     TEXT NOT NULL,
    tool       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    calls      INTEGER NOT NULL,
    failures   INTEGER NOT NULL,
    violations INTEGER NOT NULL,
    latencies  TEXT NOT NULL,
    longest_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant, tool, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX evidence_drift ON evidence (tenant, tool, seq) WHERE kind = 'drift';
