#!lua flags=allow-oom
-- evict_calls: forgets a queue's oldest call records from the old end of one list, unless either end of what the caller
-- saw has changed. `callIds` run from the newest to the oldest; `oldestMs` is when the oldest record that stays began, ''
-- when none stays.
-- Answer: records forgotten; 0 when the list has changed.
local call = redis.call
--#include base/lib/usage

local first = arg_at + 1
local count = #ARGV - arg_at
if count > 0 then
  if call('LINDEX', KEYS.callList, -1) ~= ARGV[#ARGV] or call('LINDEX', KEYS.callList, -count) ~= ARGV[first] then
    return 0
  end
end
local bytes = 0
for i = first, #ARGV do bytes = bytes + call('HSTRLEN', KEYS.callRecords, ARGV[i]) end
if count > 0 then
  if bytes > 0 then call('HINCRBY', KEYS.shardUsage, SHARD_USAGE.callBytes, -bytes) end
  Usage.note(Usage.team_of(call('HGET', KEYS.meta, QUEUE.name)), -bytes, 0, 0)
  Usage.write(KEYS.teamUsage)
  call('HDEL', KEYS.callRecords, unpack(ARGV, first))
  call('LTRIM', KEYS.callList, 0, -count - 1)
end
if ARGV.oldestMs ~= '' then
  call('ZADD', KEYS.oldestCalls, ARGV.oldestMs, ARGV.localId)
elseif call('EXISTS', KEYS.callRecords) == 0 then
  call('ZREM', KEYS.oldestCalls, ARGV.localId)
end
return count
