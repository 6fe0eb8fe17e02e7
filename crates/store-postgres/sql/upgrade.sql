-- From format 3 to format 4: shared rows, gates, and one branch of `commit_batch` for each kind of commit.
--
-- The names of the functions that nodes call end with the format, so a node never calls a function of another format. The
-- names of format 3 stay as functions that refuse every call: nodes of the previous release report why they cannot
-- commit or renew their leases. An upgrade to a later format does the same with the names of this one.

-- Waiting for this lock blocks all other nodes, so the wait is short.
SET LOCAL lock_timeout = '10s';

ALTER TABLE streams ADD COLUMN gate smallint NOT NULL DEFAULT 0;
ALTER TABLE answers RENAME COLUMN born TO created;
ALTER TABLE answers RENAME COLUMN born_streams TO created_streams;

DO $functions$
DECLARE
    found record;
BEGIN
    -- Only the functions of the store: the schema may contain others. Dependencies were created first, so they are dropped last.
    FOR found IN SELECT p.oid::regprocedure::text AS signature FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = '{schema}' AND p.prokind = 'f' AND p.proname IN (
            'append_steps', 'append_turns', 'begin_batch', 'begin_plain', 'clock_millis', 'create_runs', 'drop_frames',
            'remove_streams', 'tag_key', 'write_rows', 'write_runs', 'written_here')
        ORDER BY p.oid DESC
    LOOP
        EXECUTE 'DROP FUNCTION ' || found.signature;
    END LOOP;
    FOR found IN SELECT p.proname, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = '{schema}' AND p.prokind = 'f' AND p.proname IN (
            'adopt_history', 'append_batch', 'clear_garbage', 'commit_batch', 'plain_batch', 'renew_lease', 'retire_node')
    LOOP
        EXECUTE format('CREATE OR REPLACE FUNCTION %I(%s) RETURNS %s LANGUAGE plpgsql AS %L',
            found.proname, found.arguments, found.result,
            'BEGIN RAISE EXCEPTION ''a newer release of Everstep has upgraded this schema to format {format}; '
            'stop this node and upgrade it'' USING ERRCODE = ''ES004''; END');
    END LOOP;
END $functions$;
