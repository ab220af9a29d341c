#!lua flags=allow-oom
-- check_ring: repairs one queue's entry in the ring; only a Redis that lost writes can make it wrong.
-- Answer 1 when it had to be repaired, else 0.
local call = redis.call
--#include lib/bands
--#include lib/ring

use_ring(KEYS.ring, KEYS.teams)
local live = call('HMGET', KEYS.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.teamNumber)
local max = live[2] and (tonumber(live[2]) or 1)
local may_run = live[1] == '1' and call('LLEN', KEYS.ready) > 0 and (not max or call('ZCARD', KEYS.inFlight) < max)
if may_run then return wake(ARGV.localId, live[3], live, KEYS.ready, KEYS.inFlight) end
return call('ZREM', KEYS.ring, ARGV.localId)
