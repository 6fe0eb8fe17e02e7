-- Leases, deletion of garbage, and the reaction to a failover.

-- Truncates and hashes tags that are too long for an index.
CREATE FUNCTION tag_key(tag bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN octet_length(tag) <= 1024 THEN tag ELSE substr(tag, 1, 1024) || sha256(tag) END;

CREATE FUNCTION clock_millis() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- Renews the lease of a node. Returns whether there is garbage to delete.
CREATE FUNCTION renew_lease_{format}(clock bigint, this_node bigint, ttl bigint) RETURNS boolean
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
AS $function$
DECLARE
    moment constant bigint := coalesce(clock, clock_millis());
    day constant bigint := 86400000;
BEGIN
    IF (SELECT timeline FROM meta) IS DISTINCT FROM substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) THEN
        RAISE EXCEPTION 'the history of the database has changed' USING ERRCODE = 'ES001';
    END IF;
    INSERT INTO nodes VALUES (this_node, moment + ttl) ON CONFLICT (node) DO UPDATE SET until = excluded.until;
    -- Delete rows of nodes that expired long ago. Both tables have a row per node, so scanning them is cheap.
    DELETE FROM nodes WHERE until < moment - day;
    DELETE FROM answers a WHERE a.at < moment - day AND NOT EXISTS (SELECT FROM nodes n WHERE n.node = a.node);
    RETURN EXISTS (SELECT FROM garbage);
END $function$;

-- Ends the lease of a node.
CREATE FUNCTION retire_node_{format}(this_node bigint) RETURNS void
LANGUAGE sql
SET search_path = {schema}, pg_temp
AS $function$
    DELETE FROM nodes WHERE node = this_node;
    DELETE FROM answers WHERE node = this_node;
$function$;

-- Records the identity and timeline of the database. If they have changed, commits may be lost, and with them epochs that
-- were granted: all leases are deleted, all runs lose their holders, and their epochs rise. Returns whether they changed.
CREATE FUNCTION adopt_history_{format}() RETURNS boolean
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
AS $function$
DECLARE
    system_now constant bigint := (SELECT system_identifier FROM pg_control_system());
    timeline_now constant text := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
BEGIN
    -- Locks the row, so that only one of several nodes does this.
    UPDATE meta SET system_id = system_now, timeline = timeline_now WHERE system_id <> system_now OR timeline <> timeline_now;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM nodes;
    UPDATE streams SET epoch = epoch + 1, owner = NULL, nonce = NULL WHERE owner IS NOT NULL;
    RETURN true;
END $function$;

-- Deletes up to `most` frames of a removed stream, and the stream from `garbage` if none are left. Returns 0 if there is no
-- garbage, otherwise at least 1.
CREATE FUNCTION clear_garbage_{format}(most bigint) RETURNS bigint
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $function$
DECLARE
    which bigint;
    deleted bigint;
BEGIN
    -- Several nodes may do this at once, each for a different stream.
    SELECT stream INTO which FROM garbage ORDER BY stream LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF which IS NULL THEN
        RETURN 0;
    END IF;
    DELETE FROM frames WHERE stream = which AND first <= (
        SELECT max(f.first) FROM (SELECT first FROM frames WHERE stream = which ORDER BY first LIMIT most) f);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted < most THEN
        DELETE FROM garbage WHERE stream = which;
    END IF;
    RETURN greatest(deleted, 1);
END $function$;
