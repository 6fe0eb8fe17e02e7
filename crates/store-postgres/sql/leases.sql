-- Leases, clearing away, and what is done when the history of the database has changed.

-- Tags that are too long for an index are cut and hashed.
CREATE FUNCTION tag_key(tag bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN octet_length(tag) <= 1024 THEN tag ELSE substr(tag, 1, 1024) || sha256(tag) END;

CREATE FUNCTION clock_millis() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- A node says that it lives. Says in return whether something is to be cleared away.
CREATE FUNCTION renew_lease_{format}(clock bigint, who bigint, ttl bigint) RETURNS boolean
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
    INSERT INTO nodes VALUES (who, moment + ttl) ON CONFLICT (node) DO UPDATE SET until = excluded.until;
    -- What nodes left that died long ago. Both tables have a row per node, so looking through them is cheap.
    DELETE FROM nodes WHERE until < moment - day;
    DELETE FROM answers a WHERE a.at < moment - day AND NOT EXISTS (SELECT FROM nodes n WHERE n.node = a.node);
    RETURN EXISTS (SELECT FROM garbage);
END $function$;

-- A node says that it is gone.
CREATE FUNCTION retire_node_{format}(who bigint) RETURNS void
LANGUAGE sql
SET search_path = {schema}, pg_temp
AS $function$
    DELETE FROM nodes WHERE node = who;
    DELETE FROM answers WHERE node = who;
$function$;

-- Makes the store belong to the database it is found in, as it is now. If that is another one, or another history of it,
-- commits may be lost, and with them epochs that were granted: nobody holds anything any more, and every epoch rises.
CREATE FUNCTION adopt_history_{format}() RETURNS boolean
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
AS $function$
DECLARE
    system_now constant bigint := (SELECT system_identifier FROM pg_control_system());
    timeline_now constant text := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
BEGIN
    PERFORM FROM meta WHERE system_id = system_now AND timeline = timeline_now;
    IF FOUND THEN
        RETURN false;
    END IF;
    -- Of several nodes that notice, one does it.
    PERFORM FROM meta FOR UPDATE;
    PERFORM FROM meta WHERE system_id = system_now AND timeline = timeline_now;
    IF FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM nodes;
    UPDATE streams SET epoch = epoch + 1, owner = NULL, nonce = NULL WHERE owner IS NOT NULL;
    UPDATE meta SET system_id = system_now, timeline = timeline_now;
    RETURN true;
END $function$;

-- Deletes up to `most` frames of streams that are gone; says how many, and forgets streams that have none left.
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
    -- Several nodes may clear away at once, each another stream.
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
