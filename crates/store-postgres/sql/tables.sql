-- The tables of one installation, in its own schema. Format 4; docs/format.md describes the encoding.
--
--   streams  one row per stream, written by every commit: no indexed column changes, so every update is HOT. It contains the
--            last few records
--   runs     the columns that lists and sweeps search: indexed, and written only when a status or a ready mark changes
--   tags     one row per tag of a run, so that lists by tag are read in order
--   frames   the journals without their tails, append-only
--   rows     data that must be found without reading a journal, including timers
--   nodes    leases; commits do not lock them, so a renewal does not wait
--   answers  the outcomes of each sender's last batch
--   garbage  removed streams whose frames are still to be deleted, in small steps
--   meta     one row with the format and the identity of the database

CREATE TABLE meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    format integer NOT NULL,
    -- The term of new streams: higher than that of any removed one.
    term bigint NOT NULL,
    -- The identity and timeline of the database: if either changes, commits may be lost, and all leases are void.
    system_id bigint NOT NULL,
    timeline text NOT NULL
);

-- Numbers rise in the order of creation. A counter would make creations wait for each other. A sequence skips the numbers
-- of failed batches.
CREATE SEQUENCE numbers;

CREATE TABLE streams (
    number bigint NOT NULL,
    term bigint NOT NULL,
    next bigint NOT NULL,
    -- The last commit of an executor: its epoch, its number in that epoch, its first record.
    last_epoch bigint NOT NULL,
    last_seq bigint NOT NULL,
    last_first bigint NOT NULL,
    progress_epoch bigint NOT NULL,
    inbox_count bigint NOT NULL,
    unconsumed_events bigint NOT NULL,
    -- Records from this one on are in `tail`, those before it in `frames`.
    tail_first bigint NOT NULL,
    epoch bigint NOT NULL,
    owner bigint,
    nonce bigint,
    takeovers integer NOT NULL,
    ready boolean NOT NULL,
    closed boolean NOT NULL,
    superseded boolean NOT NULL,
    is_user boolean NOT NULL,
    -- Whether the tail has become long and was copied to `frames`: the next frame begins a new tail.
    framed boolean NOT NULL,
    name bytea NOT NULL,
    -- Dropped records. A row of `frames` is deleted when all its records are dropped; readers skip dropped records of others.
    gaps int8multirange,
    -- The last frames, the newest first, until they fill a row: a row of `frames` and its index entry cost a third of a short
    -- append, and the head is written anyway.
    tail bytea NOT NULL,
    -- Whether the run may be claimed: 0 open, 1 held, 2 needs a slot.
    gate smallint NOT NULL DEFAULT 0,
    CONSTRAINT streams_pkey PRIMARY KEY (number),
    CONSTRAINT streams_name UNIQUE (name)
-- Leaves room for the next versions of a head on its page. Pruning does most of the work of vacuum, so it can run often.
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);

CREATE TABLE runs (
    stream bigint PRIMARY KEY,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    generation bigint NOT NULL,
    status smallint NOT NULL,
    -- As in `streams`, for the index below.
    ready boolean NOT NULL,
    listed boolean NOT NULL,
    id text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    tags bytea[] NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
-- A list by workflow and status scans exactly its rows, newest first; without one of them it scans every combination.
CREATE INDEX runs_listed ON runs (workflow, status, stream) WHERE listed;
CREATE INDEX runs_ready ON runs (stream) WHERE ready;

CREATE TABLE tags (
    tag bytea,
    stream bigint,
    PRIMARY KEY (tag, stream)
);
CREATE INDEX tags_of_stream ON tags (stream);

CREATE TABLE frames (
    stream bigint,
    first bigint,
    count integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (stream, first)
-- Rows are never updated. Freezing new rows early avoids one long vacuum much later.
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_freeze_min_age = 10000000);
-- Frames up to 2 kB are stored uncompressed; longer ones are mostly JSON, which is worth a cheap compression.
DO $$ BEGIN
    ALTER TABLE frames ALTER COLUMN bytes SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL; -- The server was built without lz4 and uses its slower default.
END $$;

CREATE TABLE rows (
    kind smallint,
    -- 0 for keys that are not below a stream.
    stream bigint,
    key bytea,
    -- When a timer is due.
    due bigint,
    -- Filled in by the commit: the record of a dedup id, the stream of a generation, the end of an append, the time of the
    -- commit of a shared row.
    place bigint,
    value bytea NOT NULL,
    PRIMARY KEY (kind, stream, key)
-- Timers, rpcs and effects are short-lived, and dead rows slow down the search for due timers.
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
-- Timers (kind 1) are ordered by their due time.
CREATE INDEX rows_due ON rows (due, stream, key) WHERE kind = 1;

CREATE TABLE nodes (
    node bigint PRIMARY KEY,
    -- When the lease expires, in milliseconds by the clock of the database.
    until bigint NOT NULL
) WITH (fillfactor = 50);

-- The outcomes of the commits of one call, by position. A kind of 0 means that the stream was busy.
CREATE TYPE answer AS (
    numbers bigint[],
    kinds smallint[],
    streams bigint[],
    firsts bigint[],
    epochs bigint[],
    row_commits integer[],
    row_guards integer[],
    row_values bytea[],
    row_places bigint[],
    frame_commits integer[],
    frame_firsts bigint[],
    frame_bytes bytea[],
    gap_commits integer[],
    gap_lowers bigint[],
    gap_uppers bigint[]
);

CREATE TABLE answers (
    node bigint PRIMARY KEY,
    -- Lower numbers are not sent again.
    since bigint NOT NULL,
    -- The highest number that was answered.
    until bigint NOT NULL,
    given answer[] NOT NULL,
    -- Plain commits: the numbers of appends that took effect; the numbers of creations, and their streams or, negated, the
    -- existing streams with their names.
    done bigint[] NOT NULL,
    created bigint[] NOT NULL,
    created_streams bigint[] NOT NULL,
    -- When it was last written, so that rows of dead nodes can be deleted.
    at bigint NOT NULL
-- One row per page, with room for its next version: the outcomes of 400 steps fit into the row itself.
) WITH (fillfactor = 10, toast_tuple_target = 4000);
-- Written with every batch, and read only after a lost connection: not worth compressing.
ALTER TABLE answers ALTER COLUMN given SET STORAGE EXTERNAL, ALTER COLUMN done SET STORAGE EXTERNAL;

CREATE TABLE garbage (
    stream bigint PRIMARY KEY
);
