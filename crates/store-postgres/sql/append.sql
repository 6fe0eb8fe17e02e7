-- The most common commits, all of them in one statement: an executor appends records, each to another stream, and nothing
-- else. Says at which places that took effect, and from which record on. Every other place is judged by `commit_batch`, its
-- only caller: a stream that somebody else holds, a right that is lost, a repetition, records that the executor has not seen.
CREATE FUNCTION append_records(
    p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[],
    p_count integer[], p_bytes bytea[], p_inbox integer[], p_events integer[], p_events_min integer[], p_progress boolean[],
    OUT places integer[], OUT firsts bigint[]
)
LANGUAGE plpgsql AS $function$
#variable_conflict use_column
BEGIN
    WITH given AS MATERIALIZED (
        SELECT w.* FROM unnest(p_stream, p_epoch, p_nonce, p_seq, p_seen, p_count, p_bytes, p_inbox, p_events, p_events_min,
            p_progress) WITH ORDINALITY AS w(stream, epoch, nonce, seq, seen, count, bytes, inbox, events, events_min,
            progress, place)
    ), locked AS (
        SELECT w.*, st.ctid AS version FROM given w JOIN streams st ON st.number = w.stream
            FOR NO KEY UPDATE OF st SKIP LOCKED
    ), appended AS (
        UPDATE streams st SET next = st.next + w.count, last_epoch = w.epoch, last_seq = w.seq, last_first = st.next,
            progress_epoch = CASE WHEN w.progress THEN w.epoch ELSE st.progress_epoch END,
            inbox_count = st.inbox_count + w.inbox,
            unconsumed_events = greatest(st.unconsumed_events + w.events, w.events_min)
        -- A head that somebody else wrote after this statement had begun is not found, and so judged later.
        FROM locked w WHERE st.ctid = w.version AND st.number = w.stream
            AND st.owner IS NOT NULL AND st.epoch = w.epoch AND st.nonce = w.nonce AND NOT st.closed
            AND w.seq = CASE WHEN st.last_epoch = w.epoch THEN st.last_seq ELSE 0 END + 1
            AND w.seen >= st.next
        RETURNING w.place, w.stream, st.last_first AS first, w.count, w.bytes
    ), framed AS (
        INSERT INTO frames SELECT a.stream, a.first, a.count, a.bytes FROM appended a
    )
    SELECT array_agg(a.place ORDER BY a.place), array_agg(a.first ORDER BY a.place) INTO places, firsts FROM appended a;
END $function$;
