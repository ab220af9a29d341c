#!lua flags=allow-oom
-- delete_queue: removes a queue and all its jobs. Calls in flight end as `deleted`: their finish frees and creates
-- nothing.
-- Answer 'superseded' when the shard has another leader epoch, 'stale_id' when the name has another id by now, else
--       'deleted'.
local call = redis.call
--#include base/lib/pushed
--#include base/lib/team_index
--#include base/lib/epoch
--#include base/lib/usage
--#include jobs/history/blocks
--#include jobs/history/sealed
--#include base/lib/trash
--#include base/ring/mark

local field, id = ARGV.field, ARGV.localId
if is_superseded(KEYS.leaderEpoch, ARGV.epoch) then return 'superseded' end
if call('HGET', KEYS.queueIds, field) ~= id then return 'stale_id' end
drop_pushed(KEYS.pushedBuckets, KEYS.pushedBucket, id)
delete_contents(id)
-- The mark of a throttled queue.
call('ZREM', KEYS.nearSet, id .. '|' .. MARK_JOB)
call('SREM', KEYS.sampledQueues, id)
drop_name(KEYS.teamQueues, field)
-- The name goes last, so that the step can be sent again until it is done.
call('HDEL', KEYS.queueIds, field)
return 'deleted'
