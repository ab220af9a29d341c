#!lua flags=allow-oom
-- trim: forgets finished chains from the tail of the history, guarded by both ends of what the caller saw.
-- KEYS  1 h  2 d  3 q  4 tu  then ix:<block> × blocks
-- ARGV  local queue id, count, (root id, block index, index field) × count from the newest to the oldest of the tail
-- Answer: chains forgotten; 0 when the tail is no longer as seen.
local call = redis.call
--#include retention/forget
--#include lib/usage

local q, count = ARGV[1], tonumber(ARGV[2])
if call('LINDEX', KEYS[1], -1) ~= ARGV[count * 3] or call('LINDEX', KEYS[1], -count) ~= ARGV[3] then return 0 end
local roots, bytes = {}, 0
for i = 0, count - 1 do
  table.insert(roots, ARGV[3 + i * 3])
  bytes = bytes + call('HSTRLEN', KEYS[2], ARGV[3 + i * 3])
  forget(KEYS[4 + tonumber(ARGV[4 + i * 3])], ARGV[5 + i * 3], q)
end
call('HDEL', KEYS[2], unpack(roots))
call('LTRIM', KEYS[1], 0, -count - 1)
Usage.note(Usage.team_of(call('HGET', KEYS[3], 'n')), -bytes, 0, 0)
Usage.write(KEYS[4])
return count
