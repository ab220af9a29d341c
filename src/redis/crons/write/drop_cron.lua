#!lua flags=allow-oom
-- drop_cron: forgets a cron in a shard that is not its home. Its runs in flight end without effect on the cron.
-- Answer 'superseded' when the shard has another leader epoch, else 'dropped'.
local call = redis.call
--#include base/lib/epoch

local id = ARGV.cronId
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
call('ZREM', KEYS.cronsDue, id)
call('UNLINK', KEYS.cronRecords)
call('HDEL', KEYS.cronDefinitions, id)
call('HDEL', KEYS.cronAlerts, id)
call('HDEL', KEYS.cronStates, id)
return 'dropped'
