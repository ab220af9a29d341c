#!lua flags=allow-oom
-- beat: renews an executor's lease, or registers it.
-- `register` is 1 or 0.
-- Answer {'lost', now} when there is no lease to renew, else {'ok', now, jobs held, jumps forward, jumps back}.
--#include base/lib/clock

local lease_ms = tonumber(ARGV.leaseMs)
local now = shard_now(KEYS.clock, KEYS.executors, lease_ms)
local lease = call('ZSCORE', KEYS.executors, ARGV.executor)
if ARGV.register ~= '1' and not (lease and tonumber(lease) > now) then return { 'lost', pad13(now) } end
local notes = call('HEXISTS', KEYS.heldJobs, HELD.lastClaim) + call('HEXISTS', KEYS.heldJobs, HELD.lastFinish)
local jumps = call('HMGET', KEYS.clock, CLOCK.jumpsForward, CLOCK.jumpsBack)
call('ZADD', KEYS.executors, now + lease_ms, ARGV.executor)
local held = call('HLEN', KEYS.heldJobs) - notes
return { 'ok', pad13(now), held, tonumber(jumps[1] or '0'), tonumber(jumps[2] or '0') }
