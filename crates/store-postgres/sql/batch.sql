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

-- A batch of appends. What does not simply take effect is judged by `commit_batch`, in the same transaction; so is a batch
-- that is sent again, or by somebody who is not known yet. Each statement costs as much as two appends, so there are few.
CREATE FUNCTION append_batch(
    clock bigint, may_wait boolean, sender bigint, sender_since bigint, sender_until bigint,
    p_number bigint[], p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[], p_bytes bytea[],
    p_count integer[], p_inbox integer[], p_events integer[], p_events_min integer[], p_progress boolean[]
) RETURNS SETOF answer
LANGUAGE plpgsql
{settings}
AS $function$
DECLARE
    sent record;
    done record;
    reply answer;
BEGIN
    -- What `begin_batch` does, for a sender that is known.
    SELECT a.since, a.until INTO sent FROM meta m, answers a WHERE a.node = sender
        AND m.timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
        AND current_setting('transaction_isolation') = 'read committed' FOR UPDATE OF a;
    IF NOT FOUND OR may_wait OR sent.since > sender_since OR sent.until >= sender_since THEN
        RETURN QUERY SELECT c.* FROM judge_appends(clock, may_wait, sender, sender_since, sender_until, NULL, NULL,
            p_number, p_stream, p_epoch, p_nonce, p_seq, p_seen, p_bytes,
            p_count, p_inbox, p_events, p_events_min, p_progress) c;
        RETURN;
    END IF;
    done := append_records(p_stream, p_epoch, p_nonce, p_seq, p_seen, p_bytes,
        p_count, p_inbox, p_events, p_events_min, p_progress);
    IF cardinality(done.places) = cardinality(p_number) THEN
        UPDATE answers a SET since = sender_since, until = greatest(a.until, sender_until),
            given = ARRAY[ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                p_number, done.places, done.firsts)::answer],
            at = coalesce(clock, clock_millis()) WHERE a.node = sender;
        reply.done_places := done.places;
        reply.done_firsts := done.firsts;
        RETURN NEXT reply;
    ELSE
        RETURN QUERY SELECT c.* FROM judge_appends(clock, may_wait, sender, sender_since, sender_until,
            coalesce(done.places, '{}'), coalesce(done.firsts, '{}'),
            p_number, p_stream, p_epoch, p_nonce, p_seq, p_seen, p_bytes,
            p_count, p_inbox, p_events, p_events_min, p_progress) c;
    END IF;
END $function$;

-- `commit_batch` for appends alone.
CREATE FUNCTION judge_appends(
    clock bigint, may_wait boolean, sender bigint, sender_since bigint, sender_until bigint,
    done_places integer[], done_firsts bigint[],
    p_number bigint[], p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[], p_bytes bytea[],
    p_count integer[], p_inbox integer[], p_events integer[], p_events_min integer[], p_progress boolean[]
) RETURNS SETOF answer
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN QUERY SELECT c.* FROM commit_batch(clock, may_wait, sender, sender_since, sender_until,
        done_places, done_firsts,
        p_number, p_stream, p_epoch, p_nonce, p_seq, p_seen, p_bytes, p_count, p_inbox, p_events, p_events_min, p_progress,
        '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
        '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
        '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
        '{}', '{}', '{}', '{}') c;
END $function$;
