-- Calls whose intent has no outcome yet, for the start after a crash. An intent and its outcome that are committed together
-- never stand here, so most calls cost nothing. What is searched in the evidence is what its other columns repeat.
CREATE TABLE open_calls (
    call  TEXT NOT NULL,
    round INTEGER NOT NULL,
    PRIMARY KEY (call, round)
) STRICT, WITHOUT ROWID;
INSERT INTO open_calls (call, round)
SELECT call, json_extract(body, '$.round') FROM evidence AS intent WHERE kind = 'intent' AND
    (SELECT count(*) FROM evidence AS i WHERE i.kind = 'intent' AND i.call = intent.call AND i.seq <= intent.seq) >
    (SELECT count(*) FROM evidence AS o WHERE o.kind = 'outcome' AND o.call = intent.call);
DROP INDEX evidence_open;
ALTER TABLE evidence DROP COLUMN principal;
