#!lua flags=no-writes
-- read_usage: what teams hold in a shard, and how full the Redis under it is. Changes nothing.
-- KEYS  1 tu
-- ARGV  field…
-- Answer {id of the server's run, memory in use that counts, maxmemory (0 = no limit), value or '' of each field…}
local call = redis.call
--#include lib/memory

local run, used, max = Memory.read()
local answer = { run, string.format('%.0f', used), string.format('%.0f', max) }
for _, value in ipairs(call('HMGET', KEYS[1], unpack(ARGV))) do table.insert(answer, value or '') end
return answer
