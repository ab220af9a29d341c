#!lua flags=allow-oom
-- reschedule: sets when a queue next has something to forget.
-- KEYS  1 clk  2 ex  3 gc  4 x  5 h
-- ARGV  lease_ms, local queue id, when its oldest finished chain goes (Unix ms) or '', retry_ms
-- Answer: the time set, or '' when nothing is left to forget.
--#include lib/clock

local now = shard_now(KEYS[1], KEYS[2], tonumber(ARGV[1]))
local dead = call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
local due = tonumber(dead[2] or '')
local finished = tonumber(ARGV[3])
-- A history that filled since the caller looked is looked at again soon.
if not finished and call('LLEN', KEYS[5]) > 0 then finished = now + tonumber(ARGV[4]) end
if finished and (not due or finished < due) then due = finished end
if not due then
  call('ZREM', KEYS[3], ARGV[2])
  return ''
end
call('ZADD', KEYS[3], due, ARGV[2])
return string.format('%.0f', due)
