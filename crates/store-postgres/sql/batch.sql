-- The beginning of every call, and the entry functions for plain commits (`plain.sql`), which are nearly all commits of a
-- busy node. `commit_batch` could serve them too, but judging a commit costs as much as five plain ones, and binding its
-- columns as much as fifteen.

-- Fails if commits would not be safe, and locks the sender's row in `answers`. Returns the lowest commit number that is
-- judged (lower ones are never sent again), and whether some of the commits may have been answered before.
CREATE FUNCTION begin_batch(
    clock bigint, sender bigint, sender_since bigint,
    OUT term_found bigint, OUT known_since bigint, OUT any_kept boolean
)
LANGUAGE plpgsql AS $function$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'commits need the isolation level "read committed"' USING ERRCODE = 'ES003';
    END IF;
    SELECT m.term INTO term_found FROM meta m WHERE m.timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the history of the database has changed' USING ERRCODE = 'ES001';
    END IF;
    known_since := 0;
    any_kept := false;
    IF sender IS NOT NULL THEN
        SELECT a.since, a.until >= sender_since INTO known_since, any_kept FROM answers a WHERE a.node = sender FOR UPDATE;
        IF NOT FOUND THEN
            INSERT INTO answers VALUES (sender, 0, 0, '{}', '{}', '{}', '{}', coalesce(clock, clock_millis())) ON CONFLICT DO NOTHING;
            SELECT a.since, a.until >= sender_since INTO known_since, any_kept FROM answers a WHERE a.node = sender FOR UPDATE;
        END IF;
        known_since := greatest(known_since, sender_since);
    END IF;
END $function$;

-- Returns whether plain commits may be tried: commits are safe, and none of these has been answered before. Otherwise
-- `begin_batch` decides. Locks the sender's row in `answers` by writing the likely outcome, that all appends take effect.
CREATE FUNCTION begin_plain(
    clock bigint, sender bigint, sender_since bigint, sender_until bigint, appends bigint[],
    OUT fresh boolean, OUT term_found bigint
)
LANGUAGE plpgsql AS $function$
BEGIN
    IF sender IS NULL THEN
        SELECT m.term INTO term_found FROM meta m WHERE m.timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            AND current_setting('transaction_isolation') = 'read committed';
    ELSE
        UPDATE answers a SET since = sender_since, until = sender_until, given = '{}', done = appends, created = '{}',
            created_streams = '{}', at = coalesce(clock, clock_millis())
        FROM meta m WHERE a.node = sender AND a.since <= sender_since AND a.until < sender_since
            AND m.timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            AND current_setting('transaction_isolation') = 'read committed'
        RETURNING m.term INTO term_found;
    END IF;
    fresh := FOUND;
END $function$;

-- Applies a batch of steps. Returns those that took effect, or null if all did. A statement costs as much as three steps, so
-- there are few.
CREATE FUNCTION append_batch_{format}(
    clock bigint, sender bigint, sender_since bigint, sender_until bigint,
    p_number bigint[], p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[],
    p_count integer[], p_bytes bytea[]
) RETURNS bigint[]
LANGUAGE plpgsql
{settings}
SET lock_timeout = '{patience}'
AS $function$
DECLARE
    effective bigint[];
BEGIN
    IF NOT (begin_plain(clock, sender, sender_since, sender_until, p_number)).fresh THEN
        RETURN '{}';
    END IF;
    IF append_steps(p_stream, p_epoch, p_nonce, p_seq, p_seen, p_count, p_bytes) < cardinality(p_stream) THEN
        effective := written_here(p_stream, p_number);
        UPDATE answers a SET done = effective WHERE a.node = sender;
    END IF;
    RETURN effective;
END $function$;

-- Applies one step. Like `append_batch`, in half the time, because the run waits for it. Arrays, plans for any number of steps
-- and settings for such plans cost as much as the step itself.
CREATE FUNCTION append_step_{format}(
    clock bigint, sender bigint, p_number bigint, p_stream bigint, p_epoch bigint, p_nonce bigint, p_seq bigint, p_seen bigint,
    p_count integer, p_bytes bytea
) RETURNS bigint[]
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
SET jit = off
SET lock_timeout = '{patience}'
AS $function$
DECLARE
    written record;
BEGIN
    -- As in `begin_plain`.
    IF sender IS NULL THEN
        PERFORM FROM meta m WHERE m.timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            AND current_setting('transaction_isolation') = 'read committed';
    ELSE
        UPDATE answers a SET since = p_number, until = p_number, given = '{}', done = ARRAY[p_number], created = '{}',
            created_streams = '{}', at = coalesce(clock, clock_millis())
        FROM meta m WHERE a.node = sender AND a.since <= p_number AND a.until < p_number
            AND m.timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            AND current_setting('transaction_isolation') = 'read committed';
    END IF;
    IF NOT FOUND THEN
        RETURN '{}';
    END IF;
    -- As in `append_steps`.
    UPDATE streams st SET
        next = st.next + p_count, last_epoch = st.epoch, last_seq = p_seq, last_first = st.next, progress_epoch = st.epoch,
        tail_first = CASE WHEN st.framed THEN st.next ELSE st.tail_first END,
        tail = CASE WHEN st.framed THEN p_bytes ELSE p_bytes || st.tail END,
        framed = NOT st.framed AND octet_length(st.tail) + octet_length(p_bytes) > {tail_max}
    WHERE st.number = p_stream AND st.next = p_seen
        AND st.owner IS NOT NULL AND st.epoch = p_epoch AND st.nonce = p_nonce AND NOT st.closed
        AND p_seq = CASE WHEN st.last_epoch = st.epoch THEN st.last_seq ELSE 0 END + 1
    RETURNING st.framed AS is_full, st.tail_first, st.next, CASE WHEN st.framed THEN st.tail END AS bytes INTO written;
    IF NOT FOUND THEN
        UPDATE answers a SET done = '{}' WHERE a.node = sender;
        RETURN '{}';
    END IF;
    IF written.is_full THEN
        INSERT INTO frames VALUES (p_stream, written.tail_first, written.next - written.tail_first, written.bytes);
    END IF;
    RETURN NULL;
END $function$;

-- Applies a batch of plain commits, alone or before `commit_batch` in the same statement. Returns the appends that took effect
-- (null if all did), the outcomes of creations, and whether the commits were tried at all.
CREATE FUNCTION plain_batch_{format}(
    clock bigint, sender bigint, sender_since bigint, sender_until bigint,
    p_number bigint[], p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[],
    p_count integer[], p_bytes bytea[],
    t_number bigint[], t_stream bigint[], t_epoch bigint[], t_nonce bigint[], t_seq bigint[], t_seen bigint[], t_bytes bytea[],
    t_count integer[], t_inbox integer[], t_events integer[], t_events_min integer[], t_progress boolean[],
    t_inbox_seen bigint[], t_leaves boolean[], t_closes boolean[], t_status smallint[], t_now bigint[],
    b_number bigint[], b_name bytea[], b_bytes bytea[], b_count integer[], b_inbox integer[], b_events integer[],
    b_ready boolean[], b_node bigint[], b_nonce bigint[], b_id text[], b_workflow text[], b_version bigint[], b_status smallint[],
    b_created bigint[], b_updated bigint[], b_tags text[],
    OUT done bigint[], OUT created bigint[], OUT fresh boolean
)
LANGUAGE plpgsql
{settings}
SET lock_timeout = '{patience}'
AS $function$
DECLARE
    begun record;
    appended bigint := 0;
BEGIN
    begun := begin_plain(clock, sender, sender_since, sender_until, p_number || t_number);
    fresh := begun.fresh;
    created := '{}';
    IF NOT fresh THEN
        done := '{}';
        RETURN;
    END IF;
    IF cardinality(p_stream) > 0 THEN
        appended := append_steps(p_stream, p_epoch, p_nonce, p_seq, p_seen, p_count, p_bytes);
    END IF;
    IF cardinality(t_stream) > 0 THEN
        appended := appended + append_many(t_stream, t_epoch, t_nonce, t_seq, t_seen, t_bytes, t_count, t_inbox, t_events,
            t_events_min, t_progress, t_inbox_seen, t_leaves, t_closes, t_status, t_now);
    END IF;
    IF appended < cardinality(p_stream) + cardinality(t_stream) THEN
        done := written_here(p_stream || t_stream, p_number || t_number);
        UPDATE answers a SET done = plain_batch_{format}.done WHERE a.node = sender;
    END IF;
    IF cardinality(b_name) > 0 THEN
        created := create_runs(begun.term_found, b_name, b_bytes, b_count, b_inbox, b_events, b_ready, b_node, b_nonce, b_id,
            b_workflow, b_version, b_status, b_created, b_updated, b_tags);
        UPDATE answers a SET created = b_number, created_streams = plain_batch_{format}.created WHERE a.node = sender;
    END IF;
END $function$;
