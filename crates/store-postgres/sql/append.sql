-- The most common commits, all of them in one statement: an executor appends records, each to another stream, and nothing
-- else. Says at which places that took effect, and from which record on. Every other place is judged by
-- `commit_batch`: a stream that somebody else holds, a right that is lost, a repetition, records that the executor has not
-- seen.
--
-- A frame goes into the tail of its head, before those that are there: of two versions of a head only what lies between their
-- equal beginnings and ends is written to the log. A tail that would become too long becomes a row of `frames`, with the frame.
--
-- `p_count` and the columns behind it are empty where all appends are usual: one record, no event, and progress.
--
-- Only places travel through the statement: what else is known of an append is taken from its column where it is needed. To
-- carry all columns from node to node of the plan copies each frame four times, and costs a fifth of the whole. They come in
-- any order, because sorting them costs as much as three appends.
CREATE FUNCTION append_records(
    p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[], p_bytes bytea[],
    p_count integer[], p_inbox integer[], p_events integer[], p_events_min integer[], p_progress boolean[],
    OUT places integer[], OUT firsts bigint[]
)
LANGUAGE plpgsql AS $function$
#variable_conflict use_column
DECLARE
    -- Longer ones make heads wander from page to page, and shorter ones save fewer rows.
    tail_max constant integer := 512;
    usual constant boolean := cardinality(p_count) = 0;
BEGIN
    WITH appended AS (
        UPDATE streams st SET
            next = st.next + CASE WHEN usual THEN 1 ELSE p_count[w.place] END,
            last_epoch = st.epoch, last_seq = p_seq[w.place], last_first = st.next,
            progress_epoch = CASE WHEN usual OR p_progress[w.place] THEN st.epoch ELSE st.progress_epoch END,
            inbox_count = CASE WHEN usual THEN st.inbox_count ELSE st.inbox_count + p_inbox[w.place] END,
            unconsumed_events = CASE WHEN usual THEN st.unconsumed_events
                ELSE greatest(st.unconsumed_events + p_events[w.place], p_events_min[w.place]) END,
            tail_first = CASE WHEN w.fits THEN st.tail_first
                ELSE st.next + CASE WHEN usual THEN 1 ELSE p_count[w.place] END END,
            tail = CASE WHEN w.fits THEN p_bytes[w.place] || st.tail ELSE '' END
        FROM (
            SELECT w.place, st.ctid AS version, st.tail_first, st.tail,
                octet_length(st.tail) + octet_length(p_bytes[w.place]) <= tail_max AS fits
            FROM generate_subscripts(p_stream, 1) AS w(place)
                JOIN streams st ON st.number = p_stream[w.place] FOR NO KEY UPDATE OF st SKIP LOCKED
        ) w
        -- A head that somebody else wrote after this statement had begun is not found, and so judged later.
        WHERE st.ctid = w.version
            AND st.owner IS NOT NULL AND st.epoch = p_epoch[w.place] AND st.nonce = p_nonce[w.place] AND NOT st.closed
            AND p_seq[w.place] = CASE WHEN st.last_epoch = st.epoch THEN st.last_seq ELSE 0 END + 1
            AND p_seen[w.place] >= st.next
        RETURNING w.place, st.last_first AS first, st.next, w.tail_first,
            CASE WHEN NOT w.fits THEN p_bytes[w.place] || w.tail END AS bytes
    ), framed AS (
        INSERT INTO frames SELECT p_stream[a.place], a.tail_first, a.next - a.tail_first, a.bytes FROM appended a
            WHERE a.bytes IS NOT NULL
    )
    SELECT array_agg(a.place), array_agg(a.first) INTO places, firsts FROM appended a;
END $function$;
