-- What became of accounts, clients, grants and keys, whichever process did it: written with the change itself, until the
-- gateway has it in the evidence. Times are milliseconds since 1970.
CREATE TABLE events (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    -- Names the event in the evidence, so that it stands there once.
    mark   BLOB NOT NULL DEFAULT (randomblob(10)),
    what   TEXT NOT NULL,
    -- The account that it is about, if any.
    user   TEXT,
    -- JSON.
    detail TEXT NOT NULL
) STRICT;

CREATE TRIGGER event_signed_in AFTER INSERT ON sessions BEGIN
    INSERT INTO events (what, user, detail)
    VALUES ('signed_in', NEW.user, json_object('for_request', NEW.signed_in_for IS NOT NULL));
END;

CREATE TRIGGER event_account_added AFTER INSERT ON users BEGIN
    INSERT INTO events (what, user, detail)
    VALUES ('account_added', NEW.id, json_object('name', NEW.name, 'roles', json(NEW.roles)));
END;

CREATE TRIGGER event_account_disabled AFTER UPDATE OF disabled ON users WHEN NEW.disabled <> OLD.disabled BEGIN
    INSERT INTO events (what, user, detail)
    VALUES (IIF(NEW.disabled, 'account_disabled', 'account_enabled'), NEW.id, json_object('name', NEW.name));
END;

CREATE TRIGGER event_account_changed AFTER UPDATE OF display_name, tenant, roles ON users BEGIN
    INSERT INTO events (what, user, detail) VALUES ('account_changed', NEW.id, json_object(
        'name', NEW.name, 'roles', json(NEW.roles), 'tenant', NEW.tenant, 'before', json_object(
            'roles', json(OLD.roles), 'tenant', OLD.tenant)));
END;

CREATE TRIGGER event_password_reset AFTER UPDATE OF password ON users
WHEN NEW.password <> OLD.password AND NEW.one_time_until IS NOT NULL BEGIN
    INSERT INTO events (what, user, detail) VALUES ('password_reset', NEW.id, json_object('name', NEW.name));
END;

-- The same password under other parameters leaves `changed_at` as it is.
CREATE TRIGGER event_password_changed AFTER UPDATE OF password ON users
WHEN NEW.password <> OLD.password AND NEW.one_time_until IS NULL AND NEW.changed_at <> OLD.changed_at BEGIN
    INSERT INTO events (what, user, detail) VALUES ('password_changed', NEW.id, '{}');
END;

CREATE TRIGGER event_signed_out_everywhere AFTER UPDATE OF signed_out_at ON users
WHEN NEW.signed_out_at IS NOT OLD.signed_out_at AND NEW.changed_at = OLD.changed_at BEGIN
    INSERT INTO events (what, user, detail) VALUES ('signed_out_everywhere', NEW.id, '{}');
END;

CREATE TRIGGER event_passkey_added AFTER INSERT ON passkeys BEGIN
    INSERT INTO events (what, user, detail) VALUES ('passkey_added', NEW.user, json_object('name', NEW.name));
END;

-- With a password that was reset they go too, which is told of already.
CREATE TRIGGER event_passkey_removed AFTER DELETE ON passkeys
WHEN EXISTS (SELECT 1 FROM users WHERE id = OLD.user AND one_time_until IS NULL) BEGIN
    INSERT INTO events (what, user, detail) VALUES ('passkey_removed', OLD.user, json_object('name', OLD.name));
END;

CREATE TRIGGER event_granted AFTER INSERT ON grants BEGIN
    INSERT INTO events (what, user, detail)
    VALUES ('granted', NEW.subject, json_object(
        'client', NEW.client, 'scope', json_extract(NEW.record, '$.scope'),
        'resource', json_extract(NEW.record, '$.resource')));
END;

CREATE TRIGGER event_revoked AFTER UPDATE OF revoked_at ON grants
WHEN NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL BEGIN
    INSERT INTO events (what, user, detail) VALUES ('revoked', NEW.subject, json_object(
        'client', NEW.client, 'scope', json_extract(NEW.record, '$.scope'),
        'resource', json_extract(NEW.record, '$.resource')));
END;

-- Who registers itself is nobody yet: only what it is granted is told of.
CREATE TRIGGER event_client_added AFTER INSERT ON clients WHEN NEW.origin = 'beforehand' BEGIN
    INSERT INTO events (what, detail) VALUES ('client_added', json_object('client', NEW.id));
END;

CREATE TRIGGER event_client_disabled AFTER UPDATE OF disabled ON clients WHEN NEW.disabled <> OLD.disabled BEGIN
    INSERT INTO events (what, detail)
    VALUES (IIF(NEW.disabled, 'client_disabled', 'client_enabled'), json_object('client', NEW.id));
END;

CREATE TRIGGER event_client_removed AFTER DELETE ON clients WHEN OLD.origin = 'beforehand' BEGIN
    INSERT INTO events (what, detail) VALUES ('client_removed', json_object('client', OLD.id));
END;

CREATE TRIGGER event_key_made AFTER INSERT ON signing_keys BEGIN
    INSERT INTO events (what, detail) VALUES ('key_made', json_object('kid', NEW.kid));
END;
