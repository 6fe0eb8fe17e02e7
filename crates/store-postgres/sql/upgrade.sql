-- From format 3 to format 4: shared rows, gates, and one branch of `commit_batch` for each kind of commit. The functions
-- of format 3 are dropped here and created again afterwards. Nodes of the release before fail from then on, because
-- their calls name other arguments.

-- Waiting for this lock blocks all other nodes, so it does not last.
SET LOCAL lock_timeout = '10s';

ALTER TABLE streams ADD COLUMN gate smallint NOT NULL DEFAULT 0;

DO $functions$
DECLARE
    signature text;
BEGIN
    -- Only our own: the schema may contain functions of others. Functions that others depend on were created first.
    FOR signature IN SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = '{schema}' AND p.prokind = 'f' AND p.proname IN (
            'adopt_history', 'append_batch', 'append_steps', 'append_turns', 'begin_batch', 'begin_plain', 'clear_garbage',
            'clock_millis', 'commit_batch', 'create_runs', 'drop_frames', 'plain_batch', 'remove_streams', 'renew_lease',
            'retire_node', 'tag_key', 'write_rows', 'write_runs', 'written_here')
        ORDER BY p.oid DESC
    LOOP
        EXECUTE 'DROP FUNCTION ' || signature;
    END LOOP;
END $functions$;
