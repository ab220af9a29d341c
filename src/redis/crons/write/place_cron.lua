#!lua flags=allow-oom
-- place_cron: notes in a cron's home shard where it lives: shard numbers with commas between, in the order in which readers
-- try them, or '' for the home shard itself. The caller says what it has read there, so that two of them cannot both move
-- the cron.
-- Answer 'superseded' when the shard has another leader epoch, 'stale_id' when the name has another id by now, 'conflict'
--       when other shards are noted than the caller has read, else 'placed'.
local call = redis.call
--#include base/lib/epoch

local id, to = ARGV.cronId, ARGV.toShards
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
if call('HGET', KEYS.cronIds, ARGV.field) ~= id then return 'stale_id' end
local noted = call('HGET', KEYS.cronShards, id) or ''
if noted == to then return 'placed' end
if noted ~= ARGV.fromShards then return 'conflict' end
if to == '' then call('HDEL', KEYS.cronShards, id) else call('HSET', KEYS.cronShards, id, to) end
return 'placed'
