#!lua flags=allow-oom
-- forget_team: removes what is left of a team in a shard once its crons, queues and alerts are gone: its issues, its
-- bulks or their parts, what its channels were told, and its statistics. Allowed when Redis is full: it frees memory.
-- Answer 'superseded' when the shard has another leader epoch, else 1.
-- Transition: any bulk, any channel → (none).
local call = redis.call
--#include base/lib/epoch

local bulks = ROWS.teamBulks
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
for _, bulk in ipairs(bulks) do
  call('ZREM', KEYS.bulksDue, bulk.member, bulk.whole, bulk.outcome)
  call('UNLINK', bulk.part, bulk.failures, bulk.bulkJobs, bulk.bulkWaiting)
  call('HDEL', KEYS.bulks, bulk.id)
end
call('UNLINK', KEYS.issues)
call('ZREM', KEYS.issuesDue, ARGV.team)
-- The channels go last, so that a resend finds their notices.
for _, channel in ipairs(call('HKEYS', KEYS.channelStates)) do
  call('ZREM', KEYS.notices, ARGV.team .. '/' .. channel)
end
call('UNLINK', KEYS.channelStates, KEYS.deliveryLog, KEYS.settledTallies)
return 1
