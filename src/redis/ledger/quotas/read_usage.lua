#!lua flags=no-writes
-- read_usage: reads fields of what teams hold in a shard, and how full the Redis under it is.
-- Answer {run id of the server, memory in use that counts, maxmemory (0 = no limit), value or '' of each field…}
local call = redis.call
--#include base/lib/memory

local run, used, max = Memory.read()
local answer = { run, string.format('%.0f', used), string.format('%.0f', max) }
for _, value in ipairs(call('HMGET', KEYS.teamUsage, unpack(ARGV, arg_at + 1))) do table.insert(answer, value or '') end
return answer
