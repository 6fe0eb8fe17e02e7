-- Plain commits, each kind in one statement for all commits of a batch: steps, which append a few bytes; longer appends,
-- with which an executor may also leave its run; and creations of runs. Each is the only commit of its batch that names
-- its stream. A commit that does not simply apply (lost right, repetition, records that the executor has not seen) has no
-- effect, and `commit_batch` judges it in the next call. If another transaction creates the same name, the call fails
-- and is repeated.
--
-- Unlike `commit_batch`, these statements do not lock heads before they write them, which would cost a third of a step.
-- If another transaction is writing a head, the call waits briefly (`lock_timeout`) and then fails. This is rare: only the
-- executor appends steps to its run, and inbox commits are short.
--
-- Only positions travel through a statement; all other values are read from the argument arrays where they are needed.
-- Passing all columns from node to node of the plan would copy each frame four times.

-- Appends steps: a short frame that resolves an operation. Returns how many took effect, each at the record that its
-- executor expected.
--
-- The frame is prepended to the tail of its head, because the write-ahead log omits the equal beginnings and ends of two
-- versions of a row. A tail that has become long is copied to `frames`, and the next frame begins a new one.
CREATE FUNCTION append_steps(
    p_stream bigint[], p_epoch bigint[], p_nonce bigint[], p_seq bigint[], p_seen bigint[], p_count integer[],
    p_bytes bytea[], OUT appended bigint
)
LANGUAGE plpgsql AS $function$
BEGIN
    WITH written AS (
        UPDATE streams st SET
            next = st.next + p_count[w.place], last_epoch = st.epoch, last_seq = p_seq[w.place], last_first = st.next,
            progress_epoch = st.epoch,
            tail_first = CASE WHEN st.framed THEN st.next ELSE st.tail_first END,
            tail = CASE WHEN st.framed THEN p_bytes[w.place] ELSE p_bytes[w.place] || st.tail END,
            framed = NOT st.framed AND octet_length(st.tail) + octet_length(p_bytes[w.place]) > {tail_max}
        FROM generate_subscripts(p_stream, 1) AS w(place)
        WHERE st.number BETWEEN p_stream[w.place] AND p_stream[w.place] AND st.next = p_seen[w.place]
            AND st.owner IS NOT NULL AND st.epoch = p_epoch[w.place] AND st.nonce = p_nonce[w.place] AND NOT st.closed
            AND p_seq[w.place] = CASE WHEN st.last_epoch = st.epoch THEN st.last_seq ELSE 0 END + 1
        RETURNING CASE WHEN st.framed THEN st.number END AS number, st.tail_first, st.next,
            CASE WHEN st.framed THEN st.tail END AS bytes
    ), copied AS (
        INSERT INTO frames SELECT a.number, a.tail_first, a.next - a.tail_first, a.bytes FROM written a
            WHERE a.number IS NOT NULL
    )
    SELECT count(*) INTO appended FROM written;
END $function$;

-- Appends any number of records. An executor that leaves its run may close it. `t_inbox_seen` is -1 if the size of the
-- inbox does not matter, `t_status` is 0 if the status does not change.
CREATE FUNCTION append_many(
    t_stream bigint[], t_epoch bigint[], t_nonce bigint[], t_seq bigint[], t_seen bigint[], t_bytes bytea[],
    t_count integer[], t_inbox integer[], t_events integer[], t_events_min integer[], t_progress boolean[],
    t_inbox_seen bigint[], t_leaves boolean[], t_closes boolean[], t_status smallint[], t_now bigint[],
    OUT appended bigint
)
LANGUAGE plpgsql AS $function$
BEGIN
    WITH written AS (
        UPDATE streams st SET
            next = st.next + t_count[w.place], last_epoch = st.epoch, last_seq = t_seq[w.place], last_first = st.next,
            progress_epoch = CASE WHEN t_progress[w.place] THEN st.epoch ELSE st.progress_epoch END,
            inbox_count = st.inbox_count + t_inbox[w.place],
            unconsumed_events = greatest(st.unconsumed_events + t_events[w.place], t_events_min[w.place]),
            tail_first = CASE WHEN w.fits THEN w.tail_first ELSE st.next + t_count[w.place] END,
            tail = CASE WHEN w.fits THEN t_bytes[w.place] || w.tail ELSE '' END,
            framed = false,
            owner = CASE WHEN NOT t_leaves[w.place] THEN st.owner END,
            nonce = CASE WHEN NOT t_leaves[w.place] THEN st.nonce END,
            takeovers = CASE WHEN t_leaves[w.place] THEN 0 ELSE st.takeovers END,
            ready = st.ready AND NOT t_leaves[w.place],
            closed = t_closes[w.place]
        FROM (
            SELECT w.*, octet_length(w.tail) + octet_length(t_bytes[w.place]) <= {tail_max} AS fits FROM (
                SELECT w.place, st.ctid AS version, st.tail_first AS had_first, st.framed AS was_framed,
                    CASE WHEN st.framed THEN st.next ELSE st.tail_first END AS tail_first,
                    CASE WHEN st.framed THEN '' ELSE st.tail END AS tail
                FROM generate_subscripts(t_stream, 1) AS w(place) JOIN streams st
                    ON st.number BETWEEN t_stream[w.place] AND t_stream[w.place]
            ) w
        ) w
        -- A head that another transaction wrote after this statement began is not the one whose tail was read. Servers before
        -- 15.15, 16.11 and 17.7 find it nevertheless, so the tail is compared by where it begins and where the stream ends.
        WHERE st.ctid = w.version AND st.tail_first = w.had_first AND st.framed = w.was_framed AND st.next = t_seen[w.place]
            AND st.owner IS NOT NULL AND st.epoch = t_epoch[w.place] AND st.nonce = t_nonce[w.place] AND NOT st.closed
            AND t_seq[w.place] = CASE WHEN st.last_epoch = st.epoch THEN st.last_seq ELSE 0 END + 1
            AND (t_inbox_seen[w.place] = -1 OR t_inbox_seen[w.place] = st.inbox_count)
        RETURNING w.place, st.next, w.tail_first, CASE WHEN NOT w.fits THEN t_bytes[w.place] || w.tail END AS bytes
    ), framed AS (
        INSERT INTO frames SELECT t_stream[a.place], a.tail_first, a.next - a.tail_first, a.bytes FROM written a
            WHERE a.bytes IS NOT NULL
    ), updated AS (
        UPDATE runs ru SET ready = ru.ready AND NOT t_leaves[a.place], status = t_status[a.place],
            updated_at = CASE WHEN ru.status = t_status[a.place] THEN ru.updated_at ELSE t_now[a.place] END
        FROM written a WHERE t_status[a.place] > 0 AND ru.stream BETWEEN t_stream[a.place] AND t_stream[a.place]
    )
    SELECT count(*) INTO appended FROM written;
END $function$;

-- Creates runs with their first records, claimed by a node or by none. Returns by position the number of each new stream,
-- or the negative number of the existing stream that has the name. `b_tags` is empty if no run has tags.
CREATE FUNCTION create_runs(
    term_found bigint, b_name bytea[], b_bytes bytea[], b_count integer[], b_inbox integer[], b_events integer[],
    b_ready boolean[], b_node bigint[], b_nonce bigint[], b_id text[], b_workflow text[], b_version bigint[], b_status smallint[],
    b_created bigint[], b_updated bigint[], b_tags text[], OUT numbers bigint[]
)
LANGUAGE plpgsql AS $function$
DECLARE
    all_fit boolean;
BEGIN
    WITH created AS MATERIALIZED (
        SELECT w.place, coalesce(-st.number, nextval('numbers')) AS number, octet_length(b_bytes[w.place]) <= {tail_max} AS fits
        FROM generate_subscripts(b_name, 1) AS w(place) LEFT JOIN streams st
            ON st.name BETWEEN b_name[w.place] AND b_name[w.place]
    ), heads AS (
        -- In the order of names, so that transactions that wait for each other's names do not deadlock.
        INSERT INTO streams SELECT b.number, term_found, b_count[b.place], 0, 0, 0, 0, b_inbox[b.place], b_events[b.place],
            CASE WHEN b.fits THEN 0 ELSE b_count[b.place] END, CASE WHEN b_node[b.place] IS NULL THEN 0 ELSE 1 END,
            b_node[b.place], b_nonce[b.place], 0, b_ready[b.place], false, false, false, false, b_name[b.place], NULL,
            CASE WHEN b.fits THEN b_bytes[b.place] ELSE '' END
        FROM created b WHERE b.number > 0 ORDER BY b_name[b.place]
    ), listed AS (
        INSERT INTO runs SELECT b.number, b_created[b.place], b_updated[b.place], b_version[b.place], 1, b_status[b.place],
            b_ready[b.place], true, b_id[b.place], b_workflow[b.place], coalesce(b_tags[b.place], '{}')::bytea[]
        FROM created b WHERE b.number > 0
    )
    SELECT array_agg(b.number ORDER BY b.place), bool_and(b.fits) INTO numbers, all_fit FROM created b;
    IF NOT all_fit THEN
        INSERT INTO frames SELECT numbers[w.place], 0, b_count[w.place], b_bytes[w.place]
            FROM generate_subscripts(b_bytes, 1) AS w(place)
            WHERE octet_length(b_bytes[w.place]) > {tail_max} AND numbers[w.place] > 0;
    END IF;
    IF cardinality(b_tags) > 0 THEN
        INSERT INTO tags SELECT DISTINCT tag_key(tag), numbers[w.place]
            FROM generate_subscripts(b_tags, 1) AS w(place), unnest(b_tags[w.place]::bytea[]) tag WHERE numbers[w.place] > 0;
    END IF;
    -- Another transaction may have removed a stream of such a name in the meantime.
    IF (SELECT m.term FROM meta m) <> term_found THEN
        RAISE EXCEPTION 'a stream was removed meanwhile' USING ERRCODE = 'ES002';
    END IF;
END $function$;

-- Returns the numbers of the commits whose heads this transaction has written.
CREATE FUNCTION written_here(heads bigint[], commits bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $function$
BEGIN
    RETURN ARRAY(SELECT commits[w.place] FROM generate_subscripts(heads, 1) AS w(place)
        JOIN streams st ON st.number BETWEEN heads[w.place] AND heads[w.place] WHERE st.xmin = pg_current_xact_id()::xid);
END $function$;
