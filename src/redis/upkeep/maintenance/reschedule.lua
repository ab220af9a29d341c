#!lua flags=allow-oom
-- reschedule: sets when a queue next has something to forget. `chainsDueMs` is when its oldest finished chain goes, or ''.
-- Answer: the time set, or '' when nothing is left to forget.
--#include base/lib/clock

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
local dead = call('ZRANGE', KEYS.deadLetters, 0, 0, 'WITHSCORES')
local due = tonumber(dead[2] or '')
local chains_due = tonumber(ARGV.chainsDueMs)
-- A history that has filled since the caller read it is looked at again soon.
if not chains_due and call('LLEN', KEYS.history) > 0 then chains_due = now + tonumber(ARGV.retryMs) end
if chains_due and (not due or chains_due < due) then due = chains_due end
if not due then
  call('ZREM', KEYS.retentionDue, ARGV.localId)
  return ''
end
call('ZADD', KEYS.retentionDue, due, ARGV.localId)
return string.format('%.0f', due)
