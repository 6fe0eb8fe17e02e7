-- How every call begins, and the call for batches that only append: nearly all that a node sends while its runs take their steps.
-- `commit_batch` could serve them as well, but reading and binding its columns costs as much as fifteen appends.

-- Refuses to work where commits would not be safe, and locks the sender's row in `answers`. Says from which number on commits
-- are judged (none that is lower is sent again), and whether some of them may have been answered before.
CREATE FUNCTION begin_batch(
    clock bigint, sender bigint, sender_since bigint,
    OUT moment bigint, OUT term_found bigint, OUT known_since bigint, OUT any_kept boolean
)
LANGUAGE plpgsql AS $function$
DECLARE
    timeline_found text;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'commits need the isolation level "read committed"' USING ERRCODE = 'ES003';
    END IF;
    moment := coalesce(clock, floor(extract(epoch FROM clock_timestamp()) * 1000));
    SELECT m.term, m.timeline INTO term_found, timeline_found FROM meta m;
    IF timeline_found IS DISTINCT FROM substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) THEN
        RAISE EXCEPTION 'the history of the database has changed' USING ERRCODE = 'ES001';
    END IF;
    known_since := 0;
    any_kept := false;
    IF sender IS NOT NULL THEN
        SELECT a.since, a.until >= sender_since INTO known_since, any_kept FROM answers a WHERE a.node = sender FOR UPDATE;
        IF NOT FOUND THEN
            INSERT INTO answers VALUES (sender, 0, 0, '{}', moment) ON CONFLICT DO NOTHING;
            SELECT a.since, a.until >= sender_since INTO known_since, any_kept FROM answers a WHERE a.node = sender FOR UPDATE;
        END IF;
        known_since := greatest(known_since, sender_since);
    END IF;
END $function$;

-- A batch of appends. What does not simply take effect is judged by `commit_batch`, in the same transaction.
CREATE FUNCTION append_batch(
    clock bigint, may_wait boolean, sender bigint, sender_since bigint, sender_until bigint,
    p_number bigint[], p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[],
    p_count integer[], p_bytes bytea[], p_inbox integer[], p_events integer[], p_events_min integer[], p_progress boolean[]
) RETURNS SETOF answer
LANGUAGE plpgsql
{settings}
AS $function$
DECLARE
    batch record;
    plain_done integer[];
    done_firsts bigint[];
    reply answer;
BEGIN
    batch := begin_batch(clock, sender, sender_since);
    IF NOT may_wait AND NOT batch.any_kept AND batch.known_since = sender_since THEN
        SELECT coalesce(a.places, '{}'), a.firsts INTO plain_done, done_firsts FROM append_records(p_stream, p_epoch, p_nonce,
            p_seq, p_seen, p_count, p_bytes, p_inbox, p_events, p_events_min, p_progress) a;
    END IF;
    IF cardinality(plain_done) = cardinality(p_number) THEN
        reply := ROW(p_number, array_fill(1::smallint, ARRAY[cardinality(p_number)]), '{}', done_firsts, '{}',
            '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}');
        UPDATE answers a SET since = sender_since, until = greatest(a.until, sender_until), given = ARRAY[reply],
            at = batch.moment WHERE a.node = sender;
        RETURN NEXT reply;
    ELSE
        RETURN QUERY SELECT c.* FROM commit_batch(clock, may_wait, sender, sender_since, sender_until, plain_done, done_firsts,
            p_number, p_stream, p_epoch, p_nonce, p_seq, p_seen, p_count, p_bytes, p_inbox, p_events, p_events_min, p_progress,
            '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
            '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
            '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
            '{}', '{}', '{}', '{}') c;
    END IF;
END $function$;
