#!lua flags=allow-oom
-- remove_cron: forgets a cron in its home shard, with its hidden queue and all its jobs, as delete_queue does. Its runs in
-- flight end without effect.
-- Answer 'superseded' when the shard has another leader epoch, 'stale_id' when the name has another id by now, else
--       'removed'.
local call = redis.call
--#include base/lib/team_index
--#include base/lib/epoch
--#include base/lib/usage
--#include jobs/history/blocks
--#include jobs/history/sealed
--#include base/lib/trash

local field, id = ARGV.field, ARGV.cronId
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
if call('HGET', KEYS.cronIds, field) ~= id then return 'stale_id' end
call('ZREM', KEYS.cronsDue, id)
if call('EXISTS', KEYS.meta) == 1 then delete_contents(ARGV.localId) end
call('UNLINK', KEYS.cronRecords)
call('HDEL', KEYS.cronDefinitions, id)
call('HDEL', KEYS.cronAlerts, id)
call('HDEL', KEYS.cronStates, id)
call('HDEL', KEYS.cronShards, id)
drop_name(KEYS.teamCrons, field)
-- The name goes last, so that the step can be sent again until it is done.
call('HDEL', KEYS.cronIds, field)
return 'removed'
