-- Writes of `commit_batch` besides heads and frames. Only `commit_batch` calls these functions, so its settings apply.

CREATE FUNCTION remove_streams(gone bigint[]) RETURNS void
LANGUAGE plpgsql AS $function$
DECLARE
    one bigint;
BEGIN
    -- Rows that belong to a stream; timers, idempotency keys and generations do not. One stream at a time, because for a list of
    -- streams the planner may scan all rows of the kinds.
    FOREACH one IN ARRAY gone LOOP
        DELETE FROM rows WHERE kind IN (4, 5, 6, 7, 8) AND stream = one;
    END LOOP;
    DELETE FROM tags WHERE stream = ANY (gone);
    DELETE FROM runs WHERE stream = ANY (gone);
    DELETE FROM streams WHERE number = ANY (gone);
    -- The frames can no longer be found. There may be many, so they are deleted later in small steps.
    INSERT INTO garbage SELECT unnest(gone) ON CONFLICT DO NOTHING;
END $function$;

CREATE FUNCTION write_runs(created runs[], known runs[], changed boolean[]) RETURNS void
LANGUAGE plpgsql AS $function$
#variable_conflict use_column
BEGIN
    -- Starting a statement on a table with indexes costs more than writing a row.
    IF cardinality(created) > 0 THEN
        INSERT INTO runs SELECT b.* FROM unnest(created) b;
        INSERT INTO tags SELECT DISTINCT tag_key(tag), b.stream FROM unnest(created) b, unnest(b.tags) tag;
    END IF;
    IF true = ANY (changed) THEN
        UPDATE runs ru SET updated_at = w.updated_at, status = w.status, ready = w.ready, listed = w.listed
        FROM ROWS FROM (unnest(known), unnest(changed)) AS w(stream, created_at, updated_at, version, generation,
            status, ready, listed, id, workflow, tags, changed)
        WHERE w.changed AND ru.stream BETWEEN w.stream AND w.stream;
    END IF;
END $function$;

CREATE FUNCTION write_rows(
    kinds smallint[], streams bigint[], keys bytea[], dues bigint[], places bigint[], vals bytea[],
    dirty boolean[], present boolean[], modes smallint[], was_present boolean[]
) RETURNS void
LANGUAGE plpgsql AS $function$
#variable_conflict use_column
BEGIN
    DELETE FROM rows ro
        USING unnest(kinds, streams, keys, dirty, present) AS w(kind, stream, key, dirty, present)
        WHERE w.dirty AND NOT w.present AND ro.kind = ANY (ARRAY[w.kind]) AND ro.stream = w.stream AND ro.key = w.key;
    INSERT INTO rows SELECT w.kind, w.stream, w.key, w.due, w.place, w.value
        FROM unnest(kinds, streams, keys, dues, places, vals, dirty, present, modes, was_present)
            AS w(kind, stream, key, due, place, value, dirty, present, mode, was_present)
        WHERE w.dirty AND w.present AND (w.mode <> 2 OR w.was_present)
        ON CONFLICT (kind, stream, key) DO UPDATE SET place = excluded.place, value = excluded.value;
    -- A row that was absent must not overwrite one that another transaction has inserted since.
    INSERT INTO rows SELECT w.kind, w.stream, w.key, w.due, w.place, w.value
        FROM unnest(kinds, streams, keys, dues, places, vals, dirty, present, modes, was_present)
            AS w(kind, stream, key, due, place, value, dirty, present, mode, was_present)
        WHERE w.dirty AND w.present AND w.mode = 2 AND NOT w.was_present
        ORDER BY w.kind, w.stream, w.key;
END $function$;

-- Deletes frames within these ranges whose records are all dropped.
CREATE FUNCTION drop_frames(of_streams bigint[], firsts bigint[], lasts bigint[]) RETURNS void
LANGUAGE plpgsql AS $function$
#variable_conflict use_column
BEGIN
    DELETE FROM frames fr USING unnest(of_streams, firsts, lasts) AS w(stream, first, last), streams st
        WHERE st.number BETWEEN w.stream AND w.stream AND fr.stream = ANY (ARRAY[w.stream])
        AND fr.first <= w.last AND fr.first >= coalesce(
            (SELECT max(b.first) FROM frames b WHERE b.stream = w.stream AND b.first <= w.first), w.first)
        AND int8range(fr.first, fr.first + fr.count) <@ st.gaps;
END $function$;
