-- Judges and writes a batch of commits in one call and one transaction: the judgements of `everstep_store::judge` in SQL,
-- one branch for each kind of commit, and their effects.
--
--   1. lock the sender's row in `answers`: if the same batch is sent again while the first call still runs, it waits here
--   2. lock the heads of all streams in the order of their numbers, and move their tails to `frames`; a stream that another
--      transaction holds is busy, and so is every later commit that names it
--   3. read every row that a guard names, and lock those that no locked head protects: rows that several streams share, and
--      rows of removed streams; then take the time
--   4. judge the commits in order against heads and rows in memory, each seeing the ones before it
--   5. write what changed, each head and each row once
--
-- The call can wait for other transactions at the rows that it locks (3), then at the names of new streams, then at new rows
-- (both in 5), each in the order of keys, so there is no deadlock. A batch that may lock rows has no plain creations, which
-- would take names first (`are_alone` in plain_batch.rs). If a row or name was absent when it was judged and exists when it
-- is written, the call fails with `unique_violation`: nothing has happened, and the caller repeats it.
--
-- `begun` is true if `plain_batch` has begun the same call and written the outcomes of its commits. The other arguments are
-- columns: `c_` commits, `g_` guards, `s_` streams, `n_` names of new streams, `k_` rows, `o_` changes of rows,
-- `m_` removed streams, `x_` dropped records, `r_` runs. Slots count from 1; 0 is none. `Columns` in columns.rs is the
-- same list in Rust.
CREATE FUNCTION commit_batch_{format}(
    clock bigint, sender bigint, sender_since bigint, sender_until bigint, begun boolean, may_wait boolean,
    c_number bigint[], c_kind smallint[], c_slot integer[], c_flags integer[],
    c_epoch bigint[], c_nonce bigint[], c_seq bigint[], c_seen bigint[],
    c_now bigint[], c_begins bigint[], c_count integer[], c_bytes bytea[],
    c_inbox integer[], c_events integer[], c_events_min integer[],
    c_lease smallint[], c_lease_node bigint[], c_lease_nonce bigint[], c_gate smallint[],
    c_status smallint[], c_supersedes integer[], c_dedup integer[], c_run integer[],
    g_commit integer[], g_kind smallint[], g_number bigint[], g_row integer[], g_value bytea[], g_place bigint[],
    s_number bigint[], s_with_run boolean[], n_name bytea[],
    k_kind smallint[], k_stream bigint[], k_key bytea[], k_due bigint[], k_mode smallint[],
    o_commit integer[], o_row integer[], o_put boolean[], o_value bytea[], o_place bigint[], o_placing smallint[],
    m_commit integer[], m_slot integer[],
    x_commit integer[], x_first bigint[], x_last bigint[],
    r_id text[], r_generation bigint[], r_workflow text[], r_version bigint[], r_status smallint[],
    r_created bigint[], r_updated bigint[], r_tags text[]
) RETURNS SETOF answer
LANGUAGE plpgsql
{settings}
AS $function$
#variable_conflict use_column
DECLARE
    -- Kinds of commits.
    is_create constant smallint := 1;
    is_append constant smallint := 2;
    is_deliver constant smallint := 3;
    is_change constant smallint := 4;
    is_remove constant smallint := 5;
    -- Flags of a commit.
    has_progress constant integer := 1;
    has_foreign constant integer := 2;
    only_deletes constant integer := 4;
    closes constant integer := 8;
    says_ready constant integer := 16;
    is_ready constant integer := 32;
    of_user constant integer := 64;

    total constant integer := cardinality(c_kind);
    guards constant integer := cardinality(g_commit);
    changes constant integer := cardinality(o_commit);
    drops constant integer := cardinality(x_commit);
    removals constant integer := cardinality(m_commit);
    has_parts constant boolean := guards + changes + drops + removals > 0;
    moment bigint;

    kept record;
    kept_answers answer[] := '{}';
    known_since bigint;
    any_kept boolean;
    kinds smallint[];
    of_streams bigint[];
    firsts bigint[];
    epochs bigint[];
    -- The rows that refusals show.
    shown_commit integer[] := '{}';
    shown_guard integer[] := '{}';
    shown_values bytea[] := '{}';
    shown_places bigint[] := '{}';
    reply answer;

    term_found bigint;
    term_now bigint;

    heads streams[];
    held_heads streams[];
    held integer[];
    -- Removed streams whose rows may still be deleted.
    removed bigint[] := '{}';
    any_tail boolean := false;
    h streams;
    other streams;
    is_busy boolean[];
    is_dirty boolean[];
    run_found runs[];
    run_changed boolean[];
    any_run_changed boolean := false;
    any_superseded boolean := false;
    run runs;
    n_number bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(n_name)]);
    n_busy boolean[] := array_fill(false, ARRAY[cardinality(n_name)]);

    row_streams bigint[] := k_stream;
    was_present boolean[] := array_fill(false, ARRAY[cardinality(k_kind)]);
    present boolean[] := array_fill(false, ARRAY[cardinality(k_kind)]);
    vals bytea[] := array_fill(NULL::bytea, ARRAY[cardinality(k_kind)]);
    places bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(k_kind)]);
    row_dirty boolean[] := array_fill(false, ARRAY[cardinality(k_kind)]);
    any_row_dirty boolean := false;

    created streams[] := '{}';
    created_runs runs[] := '{}';
    gone bigint[] := '{}';
    gap_streams bigint[] := '{}';
    gap_from bigint[] := '{}';
    gap_to bigint[] := '{}';

    -- Records that an outcome returns: the commit, the stream, the first record and the end, and the gaps at that time.
    unseen_commit integer[] := '{}';
    unseen_stream bigint[] := '{}';
    unseen_from bigint[] := '{}';
    unseen_to bigint[] := '{}';
    unseen_gaps int8multirange[] := '{}';

    -- Where the guards, changes, drops and removals of the current commit begin.
    g integer := 1;
    o integer := 1;
    x integer := 1;
    m integer := 1;
    guards_begin integer;
    j integer;
    k integer;
    s integer;
    what smallint;
    has_stream boolean;
    flags integer;
    verdict smallint;
    first_record bigint;
    end_before bigint;
    taken boolean;
    takeovers integer;
    seq_before bigint;
    holds boolean;
    busy boolean;
    line record;
BEGIN
    SELECT b.term_found, b.term_found, b.known_since, b.any_kept AND NOT begun INTO term_found, term_now, known_since, any_kept
        FROM begin_batch(clock, sender, sender_since) b;

    -- 1. Earlier answers to this sender.
    IF any_kept THEN
        SELECT a.done, a.created, a.created_streams INTO kept FROM answers a WHERE a.node = sender;
        SELECT coalesce(array_agg(g::answer), '{}') INTO kept_answers FROM answers a, unnest(a.given) g
            WHERE a.node = sender AND EXISTS (SELECT FROM unnest(g.numbers) n WHERE n >= known_since);
    END IF;

    kinds := array_fill(0::smallint, ARRAY[total]);
    of_streams := array_fill(0::bigint, ARRAY[total]);
    firsts := array_fill(0::bigint, ARRAY[total]);
    epochs := array_fill(0::bigint, ARRAY[total]);
    is_busy := array_fill(false, ARRAY[cardinality(s_number)]);
    is_dirty := is_busy;
    run_changed := is_busy;
    run_found := array_fill(NULL::runs, ARRAY[cardinality(s_number)]);

    -- 2. Heads, in the order of their numbers.
    IF cardinality(s_number) > 0 THEN
        IF may_wait THEN
            PERFORM FROM unnest(s_number) AS w(number) JOIN streams st ON st.number BETWEEN w.number AND w.number
                ORDER BY w.number FOR NO KEY UPDATE OF st;
        END IF;
        WITH locked AS (
            SELECT w.slot, st FROM unnest(s_number) WITH ORDINALITY AS w(number, slot)
            JOIN streams st ON st.number BETWEEN w.number AND w.number ORDER BY w.number FOR NO KEY UPDATE OF st SKIP LOCKED
        ), moved AS (
            INSERT INTO frames SELECT (l.st).number, (l.st).tail_first, (l.st).next - (l.st).tail_first, (l.st).tail
                FROM locked l WHERE (l.st).tail <> '' AND NOT (l.st).framed
        ) SELECT array_agg(l.st), array_agg(l.slot), bool_or((l.st).tail <> '') INTO heads, held, any_tail FROM locked l;
        IF cardinality(held) IS DISTINCT FROM cardinality(s_number) THEN
            -- Some are busy or missing: their slots stay empty.
            held_heads := heads;
            heads := array_fill(NULL::streams, ARRAY[cardinality(s_number)]);
            FOR j IN 1..coalesce(cardinality(held), 0) LOOP
                heads[held[j]] := held_heads[j];
            END LOOP;
            FOR line IN SELECT w.slot, w.number, EXISTS (
                    SELECT FROM streams st WHERE st.number BETWEEN w.number AND w.number) AS present
                FROM unnest(s_number) WITH ORDINALITY AS w(number, slot) WHERE w.slot <> ALL (coalesce(held, '{}'))
            LOOP
                IF line.present THEN
                    is_busy[line.slot] := true;
                ELSIF EXISTS (SELECT FROM unnest(c_slot, c_flags) AS c(slot, flags)
                    WHERE c.flags & only_deletes <> 0 AND c.slot = line.slot)
                THEN
                    removed := removed || line.number;
                END IF;
            END LOOP;
        END IF;
        IF true = ANY (s_with_run) THEN
            FOR line IN SELECT w.slot, ru FROM unnest(s_number, s_with_run) WITH ORDINALITY AS w(number, wanted, slot)
                JOIN runs ru ON ru.stream BETWEEN w.number AND w.number WHERE w.wanted
            LOOP
                run_found[line.slot] := line.ru;
            END LOOP;
        END IF;
    END IF;
    IF cardinality(n_name) > 0 THEN
        SELECT array_agg(st.number ORDER BY w.slot) INTO n_number
            FROM unnest(n_name) WITH ORDINALITY AS w(name, slot) LEFT JOIN streams st
                ON st.name BETWEEN w.name AND w.name;
    END IF;

    -- 3. Rows.
    IF 2 = ANY (k_mode) OR cardinality(removed) > 0 THEN
        FOR line IN SELECT w.slot, ro.place, ro.value
            FROM unnest(k_kind, k_stream, k_key, k_mode) WITH ORDINALITY AS w(kind, stream, key, mode, slot)
            JOIN rows ro ON ro.kind = ANY (ARRAY[w.kind]) AND ro.stream = w.stream AND ro.key = w.key
            WHERE w.mode = 2 OR w.stream = ANY (removed) ORDER BY w.kind, w.stream, w.key FOR UPDATE OF ro
        LOOP
            was_present[line.slot] := true;
            present[line.slot] := true;
            vals[line.slot] := line.value;
            places[line.slot] := line.place;
        END LOOP;
    END IF;
    IF 1 = ANY (k_mode) THEN
        FOR line IN SELECT w.slot, ro.place, ro.value
            FROM unnest(k_kind, k_stream, k_key, k_mode) WITH ORDINALITY AS w(kind, stream, key, mode, slot)
            JOIN rows ro ON ro.kind = ANY (ARRAY[w.kind]) AND ro.stream = w.stream AND ro.key = w.key
            WHERE w.mode = 1
        LOOP
            present[line.slot] := true;
            vals[line.slot] := line.value;
            places[line.slot] := line.place;
        END LOOP;
    END IF;

    -- The time at which all locks are held: waiting for them may have taken seconds.
    moment := coalesce(clock, clock_millis());

    -- 4. Each commit, in order.
    <<commits>>
    FOR i IN 1..total LOOP
        what := c_kind[i];
        has_stream := what IN (is_append, is_deliver, is_change);
        flags := c_flags[i];
        s := c_slot[i];
        IF has_parts THEN
            WHILE g <= guards AND g_commit[g] < i LOOP g := g + 1; END LOOP;
            WHILE o <= changes AND o_commit[o] < i LOOP o := o + 1; END LOOP;
            WHILE x <= drops AND x_commit[x] < i LOOP x := x + 1; END LOOP;
            WHILE m <= removals AND m_commit[m] < i LOOP m := m + 1; END LOOP;
        END IF;

        IF c_number[i] > 0 THEN
            IF c_number[i] < known_since THEN
                kinds[i] := 17;
                CONTINUE commits;
            END IF;
            -- Here and below, conditions with a query come last: one costs as much as the rest of the judgement.
            IF any_kept THEN
                IF EXISTS (SELECT FROM unnest(kept_answers) a, unnest(a.numbers) n WHERE n = c_number[i]) THEN
                    kinds[i] := -1;
                    CONTINUE commits;
                END IF;
                -- Plain commits.
                IF c_number[i] = ANY (kept.done) THEN
                    kinds[i] := 4;
                    firsts[i] := c_seen[i];
                    CONTINUE commits;
                END IF;
                k := array_position(kept.created, c_number[i]);
                IF kept.created_streams[k] > 0 THEN
                    kinds[i] := 4;
                    of_streams[i] := kept.created_streams[k];
                    epochs[i] := CASE WHEN c_lease[i] = 1 THEN 1 ELSE 0 END;
                    CONTINUE commits;
                ELSIF kept.created_streams[k] < 0 THEN
                    kinds[i] := 10;
                    firsts[i] := -kept.created_streams[k];
                    CONTINUE commits;
                END IF;
            END IF;
        END IF;

        -- No later commit to the same streams overtakes one that cannot be judged yet.
        busy := CASE WHEN has_stream THEN is_busy[s] WHEN what = is_create THEN n_busy[s] ELSE false END;
        busy := busy OR (c_supersedes[i] > 0 AND is_busy[c_supersedes[i]]);
        IF what = is_remove THEN
            j := m;
            WHILE j <= removals AND m_commit[j] = i LOOP
                busy := busy OR is_busy[m_slot[j]];
                j := j + 1;
            END LOOP;
        END IF;
        IF busy THEN
            IF what = is_create THEN n_busy[s] := true; END IF;
            IF has_stream THEN is_busy[s] := true; END IF;
            IF c_supersedes[i] > 0 THEN is_busy[c_supersedes[i]] := true; END IF;
            WHILE what = is_remove AND m <= removals AND m_commit[m] = i LOOP
                is_busy[m_slot[m]] := true;
                m := m + 1;
            END LOOP;
            CONTINUE commits;
        END IF;

        verdict := 1;
        first_record := 0;
        <<judging>>
        BEGIN
            IF what = is_create THEN
                IF c_supersedes[i] > 0 THEN
                    other := heads[c_supersedes[i]];
                    verdict := CASE WHEN other.number IS NULL THEN 11 WHEN NOT other.closed THEN 13
                        WHEN other.superseded THEN 14 ELSE 1 END;
                    EXIT judging WHEN verdict <> 1;
                END IF;
                IF n_number[s] IS NOT NULL THEN
                    verdict := 10;
                    first_record := n_number[s];
                    EXIT judging;
                END IF;
                h := ROW(0, term_now, c_begins[i], 0, 0, 0, 0, 0, 0, c_begins[i], 0, NULL, NULL, 0, false, false, false,
                    flags & of_user <> 0, false, n_name[s], NULL, '', 0);
            ELSIF what = is_append THEN
                h := heads[s];
                IF h.number IS NULL THEN verdict := 11; EXIT judging; END IF;
                seq_before := CASE WHEN h.last_epoch = c_epoch[i] THEN h.last_seq ELSE 0 END;
                holds := h.owner IS NOT NULL AND h.epoch = c_epoch[i] AND h.nonce = c_nonce[i];
                -- The last commit may itself have released or closed the run, so a repetition is recognised by the journal.
                IF c_seq[i] = seq_before AND seq_before <> 0
                    AND (holds OR (h.owner IS NULL AND h.epoch = c_epoch[i])) THEN
                    verdict := 3;
                    first_record := h.last_first;
                    EXIT judging;
                END IF;
                IF NOT holds THEN verdict := 16; EXIT judging; END IF;
                IF c_seq[i] <> seq_before + 1 THEN verdict := 17; EXIT judging; END IF;
                IF h.closed THEN verdict := 12; EXIT judging; END IF;
            ELSIF what = is_deliver THEN
                h := heads[s];
                IF h.number IS NULL THEN verdict := 11; EXIT judging; END IF;
                IF c_dedup[i] > 0 AND present[c_dedup[i]] THEN
                    verdict := 3;
                    first_record := places[c_dedup[i]];
                    EXIT judging;
                END IF;
                IF flags & has_foreign <> 0 THEN verdict := 18; EXIT judging; END IF;
                IF h.closed THEN verdict := 12; EXIT judging; END IF;
            ELSIF what = is_change THEN
                h := heads[s];
                -- Rows of a stream that is gone may still be deleted.
                IF h.number IS NULL AND flags & only_deletes = 0 THEN verdict := 11; EXIT judging; END IF;
                IF h.closed AND flags & only_deletes = 0 AND NOT h.is_user THEN verdict := 12; EXIT judging; END IF;
            ELSE
                verdict := 11;
                j := m;
                WHILE j <= removals AND m_commit[j] = i LOOP
                    other := heads[m_slot[j]];
                    verdict := CASE WHEN other.number IS NULL THEN 11 WHEN NOT other.closed AND NOT other.is_user THEN 13
                        ELSE 1 END;
                    EXIT judging WHEN verdict <> 1;
                    j := j + 1;
                END LOOP;
            END IF;
            guards_begin := g;
            WHILE g <= guards AND g_commit[g] = i LOOP
                k := g_row[g];
                -- A guard on a stream that is gone cannot hold.
                IF what = is_change AND g_kind[g] <= 3 AND h.number IS NULL THEN verdict := 11; EXIT judging; END IF;
                CASE g_kind[g]
                    WHEN 1 THEN
                        IF what <> is_remove AND g_number[g] <> h.inbox_count THEN
                            verdict := 19;
                            first_record := h.next;
                            EXIT judging;
                        END IF;
                    WHEN 2 THEN
                        IF what <> is_remove AND g_number[g] <> h.next THEN
                            verdict := 15;
                            first_record := h.next;
                            EXIT judging;
                        END IF;
                    WHEN 3 THEN
                        IF what <> is_remove AND h.unconsumed_events >= g_number[g] THEN
                            verdict := 20;
                            first_record := h.unconsumed_events;
                            EXIT judging;
                        END IF;
                    WHEN 4 THEN
                        IF NOT present[k] THEN verdict := 22; EXIT judging; END IF;
                    WHEN 5 THEN
                        IF present[k] THEN
                            verdict := 21;
                            shown_commit := shown_commit || i;
                            shown_guard := shown_guard || g - guards_begin;
                            shown_values := shown_values || vals[k];
                            shown_places := shown_places || places[k];
                            EXIT judging;
                        END IF;
                    WHEN 6 THEN
                        IF NOT present[k] OR vals[k] <> g_value[g] OR places[k] IS DISTINCT FROM g_place[g] THEN
                            verdict := 23;
                            EXIT judging;
                        END IF;
                    WHEN 7 THEN
                        IF moment < g_number[g] THEN
                            verdict := 24;
                            first_record := moment;
                            EXIT judging;
                        END IF;
                END CASE;
                g := g + 1;
            END LOOP;
            IF what = is_remove AND verdict = 1 AND (heads[m_slot[m]]).superseded THEN
                verdict := 14;
            END IF;
        END judging;

        kinds[i] := verdict;
        firsts[i] := first_record;
        IF has_stream THEN of_streams[i] := s_number[s]; END IF;
        -- The records that an executor has not seen.
        IF what = is_append AND verdict = 1 THEN first_record := h.next; END IF;
        IF what = is_append AND verdict IN (1, 3, 19) AND c_seen[i] < first_record THEN
            unseen_commit := unseen_commit || i;
            unseen_stream := unseen_stream || h.number;
            unseen_from := unseen_from || c_seen[i];
            unseen_to := unseen_to || first_record;
            unseen_gaps := array_append(unseen_gaps, h.gaps);
        END IF;
        CONTINUE commits WHEN verdict <> 1;

        -- It takes effect.
        end_before := h.next;
        IF what = is_remove THEN
            of_streams[i] := (heads[m_slot[m]]).number;
            firsts[i] := (heads[m_slot[m]]).next;
        ELSIF what = is_change THEN
            firsts[i] := coalesce(end_before, 0);
        ELSE
            first_record := end_before;
            h.next := end_before + c_count[i];
            h.inbox_count := h.inbox_count + c_inbox[i];
            h.unconsumed_events := greatest(h.unconsumed_events + c_events[i], c_events_min[i]);
            IF c_gate[i] BETWEEN 1 AND 3 THEN
                h.gate := c_gate[i] - 1;
            ELSIF c_gate[i] = 4 AND h.owner IS NULL AND h.last_epoch = 0 THEN
                h.gate := 0;
            END IF;
            taken := false;
            -- A gated run cannot be claimed.
            IF c_lease[i] <> 0 AND (c_lease[i] <> 1 OR h.gate = 0) THEN
                -- Takeovers without progress. A release or an abandonment has already set the count.
                takeovers := CASE WHEN h.owner IS NULL THEN h.takeovers WHEN h.progress_epoch = h.epoch THEN 1
                    WHEN h.last_epoch = h.epoch OR h.takeovers < {unproven_max} THEN h.takeovers + 1 ELSE h.takeovers END;
                IF c_lease[i] = 1 THEN
                    holds := h.owner IS NOT NULL;
                    IF holds THEN
                        holds := EXISTS (SELECT FROM nodes n WHERE n.node = h.owner AND n.until > moment);
                    END IF;
                    IF h.owner = c_lease_node[i] AND h.nonce = c_lease_nonce[i] THEN
                        -- The same claim, sent again.
                        taken := true;
                    ELSIF NOT holds THEN
                        h.takeovers := takeovers;
                        h.epoch := h.epoch + 1;
                        h.owner := c_lease_node[i];
                        h.nonce := c_lease_nonce[i];
                        taken := true;
                    END IF;
                    IF taken THEN epochs[i] := h.epoch; END IF;
                ELSE
                    h.takeovers := CASE WHEN c_lease[i] = 4 THEN takeovers ELSE 0 END;
                    h.owner := NULL;
                    h.nonce := NULL;
                    IF c_lease[i] = 3 THEN h.epoch := h.epoch + 1; END IF;
                END IF;
            END IF;
            IF what = is_append THEN
                h.last_epoch := c_epoch[i];
                h.last_seq := c_seq[i];
                h.last_first := first_record;
                IF flags & has_progress <> 0 THEN h.progress_epoch := c_epoch[i]; END IF;
            END IF;
            -- An inbox commit does not mark a run that is held.
            IF flags & says_ready <> 0 AND (what = is_append OR h.gate <> 1 OR flags & is_ready = 0) THEN
                h.ready := flags & is_ready <> 0;
            END IF;
            h.closed := h.closed OR flags & closes <> 0;
            WHILE x <= drops AND x_commit[x] = i LOOP
                IF x_first[x] <= least(x_last[x], end_before - 1) THEN
                    h.gaps := coalesce(h.gaps, '{}') + int8multirange(int8range(x_first[x], least(x_last[x] + 1, end_before)));
                    gap_streams := gap_streams || h.number;
                    gap_from := gap_from || x_first[x];
                    gap_to := gap_to || least(x_last[x], end_before - 1);
                END IF;
                x := x + 1;
            END LOOP;
            firsts[i] := first_record;
            IF what = is_create THEN
                h.number := nextval('numbers');
                h.tail_first := h.next;
                n_number[s] := h.number;
                of_streams[i] := h.number;
                created := created || h;
                run := NULL;
            ELSE
                heads[s] := h;
                is_dirty[s] := true;
                run := run_found[s];
            END IF;
            IF c_run[i] > 0 OR (run.stream IS NOT NULL AND (taken OR c_status[i] > 0 OR flags & says_ready <> 0)) THEN
                IF c_run[i] > 0 THEN
                    k := c_run[i];
                    run := ROW(h.number, r_created[k], r_updated[k], r_version[k], r_generation[k], r_status[k], h.ready,
                        NOT h.superseded, r_id[k], r_workflow[k], r_tags[k]::bytea[]);
                END IF;
                -- A claimed run is running, unless its status is one that the claiming node continues.
                j := c_status[i];
                IF j = 0 AND taken AND run.status NOT IN ({continued}) THEN j := {running}; END IF;
                IF what = is_deliver THEN
                    IF h.owner IS NOT NULL THEN
                        IF j = {queued} THEN j := {running}; END IF;
                    -- A resting run that is woken is queued until a node claims it.
                    ELSIF j = 0 AND flags & is_ready <> 0 AND h.gate <> 1 AND run.status IN ({resting}) THEN
                        j := {queued};
                    END IF;
                END IF;
                IF j > 0 AND j <> run.status THEN
                    run.status := j;
                    run.updated_at := c_now[i];
                END IF;
                run.ready := h.ready;
                any_run_changed := true;
                IF what = is_create THEN
                    created_runs := created_runs || run;
                ELSE
                    run_found[s] := run;
                    run_changed[s] := true;
                END IF;
            END IF;
            IF c_supersedes[i] > 0 THEN
                j := c_supersedes[i];
                other := heads[j];
                other.superseded := true;
                heads[j] := other;
                is_dirty[j] := true;
                run := run_found[j];
                IF run.stream IS NOT NULL THEN
                    run.listed := false;
                    run_found[j] := run;
                    run_changed[j] := true;
                    any_run_changed := true;
                END IF;
            END IF;
            IF c_dedup[i] > 0 THEN
                k := c_dedup[i];
                row_streams[k] := h.number;
                present[k] := true;
                vals[k] := '';
                places[k] := first_record;
                row_dirty[k] := true;
                any_row_dirty := true;
            END IF;
        END IF;

        -- Delete rows, remove streams, put rows.
        WHILE o <= changes AND o_commit[o] = i AND NOT o_put[o] LOOP
            k := o_row[o];
            -- A row that is deleted by value stays if it differs.
            IF o_value[o] IS NULL
                OR (present[k] AND vals[k] = o_value[o] AND places[k] IS NOT DISTINCT FROM o_place[o]) THEN
                present[k] := false;
                row_dirty[k] := true;
                any_row_dirty := true;
            END IF;
            o := o + 1;
        END LOOP;
        IF what = is_remove THEN
            WHILE m <= removals AND m_commit[m] = i LOOP
                other := heads[m_slot[m]];
                IF other.number IS NOT NULL THEN
                    gone := gone || other.number;
                    term_now := greatest(term_now, other.term + 1);
                    k := array_position(n_number, other.number);
                    IF k IS NOT NULL THEN n_number[k] := NULL; END IF;
                    heads[m_slot[m]] := NULL;
                    is_dirty[m_slot[m]] := false;
                    run_changed[m_slot[m]] := false;
                END IF;
                m := m + 1;
            END LOOP;
        END IF;
        WHILE o <= changes AND o_commit[o] = i LOOP
            k := o_row[o];
            row_streams[k] := coalesce(row_streams[k], h.number);
            present[k] := true;
            vals[k] := o_value[o];
            places[k] := CASE o_placing[o] WHEN 1 THEN h.number WHEN 2 THEN h.next WHEN 3 THEN moment
                ELSE o_place[o] END;
            row_dirty[k] := true;
            any_row_dirty := true;
            o := o + 1;
        END LOOP;
    END LOOP commits;

    -- 5. Write. Removals come first, because their names and rows may be used again.
    IF cardinality(gone) > 0 THEN
        PERFORM remove_streams(gone);
    END IF;
    IF any_tail OR true = ANY (is_dirty) THEN
        UPDATE streams st SET next = w.next, last_epoch = w.last_epoch, last_seq = w.last_seq, last_first = w.last_first,
            progress_epoch = w.progress_epoch, inbox_count = w.inbox_count, unconsumed_events = w.unconsumed_events,
            epoch = w.epoch, owner = w.owner, nonce = w.nonce, takeovers = w.takeovers, ready = w.ready,
            closed = w.closed, superseded = w.superseded, gaps = w.gaps, gate = w.gate, tail_first = w.next, tail = '', framed = false
        FROM ROWS FROM (unnest(heads), unnest(is_dirty)) AS w(number, term, next, last_epoch, last_seq, last_first,
            progress_epoch, inbox_count, unconsumed_events, tail_first, epoch, owner, nonce, takeovers, ready, closed,
            superseded, is_user, framed, name, gaps, tail, gate, dirty)
        WHERE (w.dirty OR w.tail <> '') AND st.number BETWEEN w.number AND w.number;
    END IF;
    IF cardinality(created) > 0 THEN
        INSERT INTO streams SELECT b.* FROM unnest(created) b ORDER BY b.name;
        -- Another transaction may have removed a stream of such a name in the meantime.
        IF (SELECT term FROM meta) <> term_found THEN
            RAISE EXCEPTION 'a stream was removed meanwhile' USING ERRCODE = 'ES002';
        END IF;
    END IF;
    IF any_run_changed THEN
        PERFORM write_runs(created_runs, run_found, run_changed);
    END IF;
    IF 1 = ANY (kinds) THEN
        INSERT INTO frames SELECT w.stream, w.first, w.count, w.bytes
            FROM unnest(of_streams, firsts, c_count, c_bytes, kinds) AS w(stream, first, count, bytes, kind)
            WHERE w.kind = 1 AND w.count > 0;
    END IF;
    IF any_row_dirty THEN
        PERFORM write_rows(k_kind, row_streams, k_key, k_due, places, vals, row_dirty, present, k_mode, was_present);
    END IF;

    reply.numbers := c_number;
    reply.kinds := kinds;
    reply.streams := of_streams;
    reply.firsts := firsts;
    reply.epochs := epochs;
    reply.row_commits := shown_commit;
    reply.row_guards := shown_guard;
    reply.row_values := shown_values;
    reply.row_places := shown_places;
    IF cardinality(unseen_commit) > 0 THEN
        SELECT array_agg(f.commit), array_agg(f.first), array_agg(f.bytes)
            INTO reply.frame_commits, reply.frame_firsts, reply.frame_bytes
            FROM (SELECT w.commit, fr.first, fr.bytes
                FROM unnest(unseen_commit, unseen_stream, unseen_from, unseen_to) AS w(commit, stream, from_, to_)
                JOIN frames fr ON fr.stream = ANY (ARRAY[w.stream]) AND fr.first < w.to_ AND fr.first >= coalesce(
                    (SELECT max(b.first) FROM frames b WHERE b.stream = w.stream AND b.first <= w.from_), w.from_)
                ORDER BY w.commit, fr.first) f;
        SELECT array_agg(w.commit), array_agg(lower(gap)), array_agg(upper(gap))
            INTO reply.gap_commits, reply.gap_lowers, reply.gap_uppers
            FROM unnest(unseen_commit, unseen_gaps) AS w(commit, gaps), unnest(w.gaps) gap;
    END IF;
    IF cardinality(gap_streams) > 0 THEN
        PERFORM drop_frames(gap_streams, gap_from, gap_to);
    END IF;
    IF term_now > term_found THEN
        UPDATE meta SET term = greatest(term, term_now);
    END IF;

    RETURN NEXT reply;
    IF any_kept THEN
        RETURN QUERY SELECT a.* FROM unnest(kept_answers) a;
    END IF;
    IF sender IS NOT NULL THEN
        -- Busy commits, and those answered before, are not part of this answer.
        IF 0 = ANY (reply.kinds) OR -1 = ANY (reply.kinds) THEN
            reply.numbers := ARRAY(SELECT CASE WHEN w.kind > 0 THEN w.number ELSE 0 END
                FROM unnest(reply.numbers, reply.kinds) WITH ORDINALITY AS w(number, kind, place) ORDER BY w.place);
        END IF;
        UPDATE answers a SET since = known_since, until = greatest(a.until, sender_until), given = kept_answers || reply,
            done = CASE WHEN any_kept OR begun THEN a.done ELSE '{}' END,
            created = CASE WHEN any_kept OR begun THEN a.created ELSE '{}' END,
            created_streams = CASE WHEN any_kept OR begun THEN a.created_streams ELSE '{}' END, at = moment
            WHERE a.node = sender;
    END IF;
END $function$;
