-- What holds in the functions that commit, whatever the session or the server says.
SET search_path = {schema}, pg_temp
-- The same plans on empty tables and on full ones: every table is met by its key, and statistics come too late. What is left to
-- choose is to walk an index from end to end and compare, as is best for a table of three rows, and goes on while it grows to
-- thousands. That is considered where nothing but the key is asked for (an index-only scan), and for the sake of an order by which
-- equals could be joined; so keys are not compared with `=`, but are BETWEEN a value and the same value, or equal to ANY of one.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_indexonlyscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_memoize = off
SET plan_cache_mode = force_generic_plan
SET jit = off
SET lock_timeout = '10s'
