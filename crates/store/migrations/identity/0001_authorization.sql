-- Clients, grants, assertions that were used, and signing keys. Times are milliseconds since 1970.
CREATE TABLE clients (
    id         TEXT PRIMARY KEY,
    -- `beforehand` by whoever runs the gateway, or `dynamic` by the client itself.
    origin     TEXT NOT NULL,
    -- JSON.
    record     TEXT NOT NULL,
    -- SHA-256 of the client's secret; secrets are random, so that a plain hash does.
    secret     BLOB,
    disabled   INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT;

CREATE INDEX clients_by_origin ON clients (origin, created_at);

-- What a person allowed a client. Its tokens form one family: they stand and fall with it.
CREATE TABLE grants (
    id           TEXT PRIMARY KEY,
    client       TEXT NOT NULL,
    subject      TEXT NOT NULL,
    -- JSON: resource, scopes, redirect URI and challenge of the code, key that the tokens are bound to.
    record       TEXT NOT NULL,
    -- 0 while its code is good, then counted up with each refresh token: one that is not of now was used before.
    generation   INTEGER NOT NULL DEFAULT 0,
    created_at   INTEGER NOT NULL,
    ends_at      INTEGER NOT NULL,
    revoked_at   INTEGER
) STRICT;

CREATE INDEX grants_of_subject ON grants (subject);
CREATE INDEX grants_of_client ON grants (client);
CREATE INDEX grants_by_end ON grants (ends_at);
CREATE INDEX grants_revoked ON grants (revoked_at) WHERE revoked_at IS NOT NULL;

-- Assertions of clients that were used, for as long as they would be good again.
CREATE TABLE assertions (
    id      BLOB PRIMARY KEY,
    until   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX assertions_by_end ON assertions (until);

-- Authorization requests that were answered, for as long as they would be good again.
CREATE TABLE answered_requests (
    id      TEXT PRIMARY KEY,
    until   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX answered_requests_by_end ON answered_requests (until);

CREATE TABLE signing_keys (
    kid        TEXT PRIMARY KEY,
    -- The private key (PKCS #8), sealed.
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    -- From when on a later one signs; it verifies until the last of its tokens has expired.
    retired_at INTEGER
) STRICT;
