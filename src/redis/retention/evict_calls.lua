#!lua flags=allow-oom
-- evict_calls: forgets a queue's oldest call records from the tail of one list, guarded by both ends of what the
-- caller saw.
-- KEYS  1 c  2 cf or co  3 use  4 cq  5 q  6 tu
-- ARGV  local queue id, time of the oldest record that stays (Unix ms) or '' when none stays,
--       job id × count from the newest to the oldest of the tail
-- Answer: records forgotten; 0 when the tail is no longer as seen.
local call = redis.call
--#include lib/usage

local count = #ARGV - 2
if count > 0 then
  if call('LINDEX', KEYS[2], -1) ~= ARGV[#ARGV] or call('LINDEX', KEYS[2], -count) ~= ARGV[3] then return 0 end
end
local bytes = 0
for i = 3, #ARGV do bytes = bytes + call('HSTRLEN', KEYS[1], ARGV[i]) end
if count > 0 then
  if bytes > 0 then call('HINCRBY', KEYS[3], 'calls', -bytes) end
  Usage.note(Usage.team_of(call('HGET', KEYS[5], 'n')), -bytes, 0, 0)
  Usage.write(KEYS[6])
  call('HDEL', KEYS[1], unpack(ARGV, 3))
  call('LTRIM', KEYS[2], 0, -count - 1)
end
if ARGV[2] ~= '' then call('ZADD', KEYS[4], ARGV[2], ARGV[1])
elseif call('EXISTS', KEYS[1]) == 0 then call('ZREM', KEYS[4], ARGV[1]) end
return count
