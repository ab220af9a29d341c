#!lua flags=allow-oom
-- trim: forgets finished chains from the tail of the history, guarded by both ends of what the caller saw.
-- KEYS  1 h  2 d  then ix:<block> × blocks
-- ARGV  local queue id, count, (root id, block index, index field) × count from the newest to the oldest of the tail
-- Answer: chains forgotten; 0 when the tail is no longer as seen.
local call = redis.call
--#include index

local q, count = ARGV[1], tonumber(ARGV[2])
if call('LINDEX', KEYS[1], -1) ~= ARGV[count * 3] or call('LINDEX', KEYS[1], -count) ~= ARGV[3] then return 0 end
local roots = {}
for i = 0, count - 1 do
  table.insert(roots, ARGV[3 + i * 3])
  forget(KEYS[2 + tonumber(ARGV[4 + i * 3])], ARGV[5 + i * 3], q)
end
call('HDEL', KEYS[2], unpack(roots))
call('LTRIM', KEYS[1], 0, -count - 1)
return count
