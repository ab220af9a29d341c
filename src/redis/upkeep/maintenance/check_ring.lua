#!lua flags=allow-oom
-- check_ring: repairs one queue's entry in the ring, or the mark of a throttled one; only a Redis that lost writes, or an
-- executor of a version that knows no marks, can make them wrong.
-- Answer 1 when it had to be repaired, else 0.
local call = redis.call
--#include base/ring/bands
--#include base/ring/ring
--#include base/ring/mark

use_ring(KEYS.ring, KEYS.teams)
local live = call('HMGET', KEYS.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.teamNumber)
if live[1] == THROTTLED then
  -- Without its mark it would stay throttled for ever.
  return call('ZADD', KEYS.nearSet, 'NX', 0, ARGV.localId .. '|' .. MARK_JOB)
end
local max = live[2] and (tonumber(live[2]) or 1)
local may_run = live[1] == '1' and call('LLEN', KEYS.ready) > 0 and (not max or call('ZCARD', KEYS.inFlight) < max)
if may_run then return wake(ARGV.localId, live[3], live, KEYS.ready, KEYS.inFlight) end
return call('ZREM', KEYS.ring, ARGV.localId)
