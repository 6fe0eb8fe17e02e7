-- Indexes that format 4 did not have at first. They are added when a schema without them is opened.

-- Runs are stored roughly in the order of their creation, so an index of blocks suffices, and costs almost nothing to maintain.
DO $index$ BEGIN
    IF to_regclass('{schema}.runs_created') IS NULL THEN
        CREATE INDEX runs_created ON runs USING brin (created_at) WITH (autosummarize = on);
    END IF;
END $index$;
