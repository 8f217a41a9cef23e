-- How many intents of a call have no outcome yet, for the start after a crash: more than one where a client repeated a read.
-- An intent and its outcome that are committed together never stand here, so most calls cost nothing.
CREATE TABLE open_calls (
    call  TEXT NOT NULL,
    round INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (call, round)
) STRICT, WITHOUT ROWID;
INSERT INTO open_calls (call, round, count)
SELECT call, coalesce(json_extract(body, '$.round'), 0) AS round, sum(iif(kind = 'intent', 1, -1)) AS count
FROM evidence WHERE kind IN ('intent', 'outcome') GROUP BY 1, 2 HAVING count > 0;
DROP INDEX evidence_open;
-- What is searched is what the other columns repeat; nobody searched for principals.
ALTER TABLE evidence DROP COLUMN principal;
