#!lua flags=allow-oom
-- unthrottle: lets a queue call its target again at once, whatever the target or its breaker has asked for. Its rate goes on
-- from where it is, because it is the target's.
-- Answer 'not_found' when there is no such queue, else 1 when the queue became runnable, else 0.
local call = redis.call
--#include base/ring/bands
--#include base/ring/ring
--#include base/ring/mark
--#include base/ring/flow

local live = call('HMGET', KEYS.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.teamNumber, QUEUE.flow)
if not live[1] then return 'not_found' end
if not live[4] then return 0 end
local flow = Flow.kept(Flow.read(KEYS.meta, live[4], UNBOUNDED), false)
flow.asked = 0
local is_throttled = live[1] == THROTTLED
Flow.save(flow, is_throttled and '1')
if not is_throttled then return 0 end
call('ZREM', KEYS.nearSet, ARGV.localId .. '|' .. MARK_JOB)
use_ring(KEYS.ring, KEYS.teams)
live[1] = '1'
return wake(ARGV.localId, live[3], live, KEYS.ready, KEYS.inFlight)
