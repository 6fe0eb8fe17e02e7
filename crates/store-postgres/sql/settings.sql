-- What holds in the functions that commit, whatever the session or the server says.
SET search_path = {schema}, pg_temp
-- The same plans on empty tables and on full ones: every table is met by its key, and statistics come too late.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
SET jit = off
SET lock_timeout = '10s'
