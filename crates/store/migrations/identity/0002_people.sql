-- Accounts and sessions. Times are milliseconds since 1970.
CREATE TABLE users (
    id            TEXT PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    display_name  TEXT NOT NULL,
    tenant        TEXT NOT NULL,
    roles         TEXT NOT NULL,
    -- argon2id, as a PHC string.
    password      TEXT NOT NULL,
    -- The end of a password that is good once; it has to be changed at the first sign-in.
    one_time_until INTEGER,
    disabled      INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    changed_at    INTEGER NOT NULL,
    -- What was granted before is good no more.
    signed_out_at INTEGER
) STRICT;

CREATE TABLE sessions (
    -- SHA-256 of what the cookie holds.
    hash          BLOB PRIMARY KEY,
    user          TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    signed_in_at  INTEGER NOT NULL,
    seen_at       INTEGER NOT NULL,
    -- SHA-256 of the sealed authorization request that the person signed in for, base64url.
    signed_in_for TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_of_user ON sessions (user, seen_at);
CREATE INDEX sessions_by_age ON sessions (signed_in_at);

CREATE TABLE passkeys (
    -- The credential's id, base64url.
    id            TEXT PRIMARY KEY,
    user          TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name          TEXT NOT NULL,
    -- COSE algorithm, and the key as SubjectPublicKeyInfo.
    algorithm     INTEGER NOT NULL,
    public_key    BLOB NOT NULL,
    counter       INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    used_at       INTEGER
) STRICT;

CREATE INDEX passkeys_of_user ON passkeys (user, created_at);

-- Challenges that were answered: none is answered twice.
CREATE TABLE passkey_challenges (
    challenge     TEXT PRIMARY KEY,
    until         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
