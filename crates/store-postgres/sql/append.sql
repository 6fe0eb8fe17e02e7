-- The most common commits, all of them in one statement: an executor appends records, each to another stream, and nothing
-- else. Says at which places that took effect, and from which record on. Every other place is judged by `commit_batch`, its
-- only caller: a stream that somebody else holds, a right that is lost, a repetition, records that the executor has not seen.
--
-- Only places travel through the statement: what else is known of an append is taken from its column where it is needed. To
-- carry all columns from node to node of the plan copies each frame four times, and costs a fifth of the whole.
CREATE FUNCTION append_records(
    p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[],
    p_count integer[], p_bytes bytea[], p_inbox integer[], p_events integer[], p_events_min integer[], p_progress boolean[],
    OUT places integer[], OUT firsts bigint[]
)
LANGUAGE plpgsql AS $function$
#variable_conflict use_column
BEGIN
    WITH appended AS (
        UPDATE streams st SET next = st.next + p_count[w.place], last_epoch = st.epoch, last_seq = p_seq[w.place],
            last_first = st.next,
            progress_epoch = CASE WHEN p_progress[w.place] THEN st.epoch ELSE st.progress_epoch END,
            inbox_count = st.inbox_count + p_inbox[w.place],
            unconsumed_events = greatest(st.unconsumed_events + p_events[w.place], p_events_min[w.place])
        FROM (
            SELECT w.place, st.ctid AS version FROM unnest(p_stream) WITH ORDINALITY AS w(stream, place)
                JOIN streams st ON st.number = w.stream FOR NO KEY UPDATE OF st SKIP LOCKED
        ) w
        -- A head that somebody else wrote after this statement had begun is not found, and so judged later.
        WHERE st.ctid = w.version AND st.number = p_stream[w.place]
            AND st.owner IS NOT NULL AND st.epoch = p_epoch[w.place] AND st.nonce = p_nonce[w.place] AND NOT st.closed
            AND p_seq[w.place] = CASE WHEN st.last_epoch = st.epoch THEN st.last_seq ELSE 0 END + 1
            AND p_seen[w.place] >= st.next
        RETURNING w.place, st.last_first AS first
    ), framed AS (
        INSERT INTO frames SELECT p_stream[a.place], a.first, p_count[a.place], p_bytes[a.place] FROM appended a
    )
    SELECT array_agg(a.place ORDER BY a.place), array_agg(a.first ORDER BY a.place) INTO places, firsts FROM appended a;
END $function$;
