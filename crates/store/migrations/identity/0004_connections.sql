-- Accounts of people at upstreams. Times are milliseconds since 1970.
CREATE TABLE connections (
    -- The upstream's authorization server.
    issuer        TEXT NOT NULL,
    upstream      TEXT NOT NULL,
    user          TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The tokens, sealed for this issuer, upstream and user.
    sealed        TEXT NOT NULL,
    connected_at  INTEGER NOT NULL,
    -- Set by the person who takes it away, before it goes.
    taken_back    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (issuer, upstream, user)
) STRICT, WITHOUT ROWID;

CREATE INDEX connections_of_user ON connections (user, connected_at);

CREATE TRIGGER event_connected AFTER INSERT ON connections BEGIN
    INSERT INTO events (what, user, detail)
    VALUES ('connected', NEW.user, json_object('upstream', NEW.upstream, 'issuer', NEW.issuer));
END;

-- Fresh tokens leave `connected_at` as it is.
CREATE TRIGGER event_connected_anew AFTER UPDATE OF connected_at ON connections BEGIN
    INSERT INTO events (what, user, detail)
    VALUES ('connected', NEW.user, json_object('upstream', NEW.upstream, 'issuer', NEW.issuer));
END;

CREATE TRIGGER event_disconnected AFTER DELETE ON connections BEGIN
    INSERT INTO events (what, user, detail)
    VALUES (CASE OLD.taken_back WHEN 1 THEN 'disconnected' ELSE 'connection_ended' END, OLD.user, json_object('upstream', OLD.upstream, 'issuer', OLD.issuer));
END;
