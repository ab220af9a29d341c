#!lua flags=allow-oom
-- check_ring: puts one queue's entry in the ring right, should it be wrong (only a Redis that lost writes can do that).
-- KEYS  1 ring  2 q  3 r  4 a  5 teams
-- ARGV  local queue id
-- Answer 1 when it had to be mended, else 0.
local call = redis.call
--#include lib/bands
--#include lib/ring

local id = ARGV[1]
use_ring(KEYS[1], KEYS[5])
local live = call('HMGET', KEYS[2], 'a', 'm', 'u')
local max = live[2] and (tonumber(live[2]) or 1)
local may_run = live[1] == '1' and call('LLEN', KEYS[3]) > 0 and (not max or call('ZCARD', KEYS[4]) < max)
if may_run then return wake(id, live[3], live, KEYS[3], KEYS[4]) end
return call('ZREM', KEYS[1], id)
