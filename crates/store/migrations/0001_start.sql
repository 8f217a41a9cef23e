-- Evidence: append only, one row for each step of a call. `body` is the whole row as JSON; the other columns repeat
-- what is searched. `digest_key` is the key of the digests in the body; retention erases it.
CREATE TABLE evidence (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    tenant     TEXT NOT NULL,
    call       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    principal  TEXT NOT NULL,
    tool       TEXT,
    digest_key BLOB,
    body       TEXT NOT NULL
) STRICT;
CREATE INDEX evidence_call ON evidence (call);
CREATE INDEX evidence_open ON evidence (kind, call) WHERE kind IN ('intent', 'outcome');

-- Approvals: `record` is the record as JSON, `arguments` are the sealed argument bytes.
CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,
    tenant      TEXT NOT NULL,
    caller      TEXT NOT NULL,
    binding_key TEXT NOT NULL,
    denial_key  TEXT NOT NULL,
    state       TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    record      TEXT NOT NULL,
    arguments   BLOB
) STRICT;
CREATE UNIQUE INDEX approvals_one_open ON approvals (binding_key) WHERE state IN ('pending', 'approved');
CREATE INDEX approvals_denied ON approvals (denial_key) WHERE state = 'denied';
CREATE INDEX approvals_redeemed ON approvals (denial_key, created_at) WHERE state = 'redeemed';
CREATE INDEX approvals_state ON approvals (tenant, state, created_at);
CREATE INDEX approvals_pending ON approvals (tenant, caller) WHERE state = 'pending';

-- Rounds of a call that were dispatched: a round is dispatched once.
CREATE TABLE rounds (
    call  TEXT NOT NULL,
    round INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (call, round)
) STRICT, WITHOUT ROWID;
