#!lua flags=allow-oom
-- beat: renews an executor's lease, or registers it.
-- KEYS  1 clk  2 ex  3 in:<executor>
-- ARGV  lease_ms, executor, register (1 or 0)
-- Answer {'lost', now} when there is no lease to renew, else {'ok', now, jobs held, jumps forward, jumps back}.
--#include lib/clock

local lease_ms, executor = tonumber(ARGV[1]), ARGV[2]
local now = shard_now(KEYS[1], KEYS[2], lease_ms)
local lease = call('ZSCORE', KEYS[2], executor)
if ARGV[3] ~= '1' and not (lease and tonumber(lease) > now) then return { 'lost', pad13(now) } end
local held = call('HLEN', KEYS[3]) - call('HEXISTS', KEYS[3], '#c') - call('HEXISTS', KEYS[3], '#f')
local jumps = call('HMGET', KEYS[1], 'jf', 'jb')
call('ZADD', KEYS[2], now + lease_ms, executor)
return { 'ok', pad13(now), held, tonumber(jumps[1] or '0'), tonumber(jumps[2] or '0') }
