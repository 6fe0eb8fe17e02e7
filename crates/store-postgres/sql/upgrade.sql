-- From format 3 to format 4: shared rows, gates, and one branch of `commit_batch` for each kind of commit. The functions
-- are created again behind this. Nodes of the release before fail from then on, because their calls name other arguments.

ALTER TABLE streams ADD COLUMN gate smallint NOT NULL DEFAULT 0;

DO $functions$
DECLARE
    signature text;
BEGIN
    -- Those that others depend on were created first.
    FOR signature IN SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = '{schema}' ORDER BY p.oid DESC
    LOOP
        EXECUTE 'DROP FUNCTION ' || signature;
    END LOOP;
END $functions$;
