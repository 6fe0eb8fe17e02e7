-- Settings of the functions that commit. They override those of the session and the server.
SET search_path = {schema}, pg_temp
-- The same plans on empty and on full tables: every table is accessed by its key, and statistics arrive too late. The planner
-- could still scan an index from end to end, which is best for three rows and stays in use while the table grows. It considers
-- that if only the key is needed (an index-only scan), or for the order of a merge join; therefore keys are not compared with
-- `=`, but with BETWEEN the same value twice, or with ANY of an array of one.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_indexonlyscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_memoize = off
SET plan_cache_mode = force_generic_plan
SET jit = off
SET lock_timeout = '10s'
