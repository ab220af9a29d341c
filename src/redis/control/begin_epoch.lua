#!lua flags=allow-oom
-- begin_epoch: writes a leader's epoch to a shard, and raises the id counters to the floor. No value is ever lowered.
-- KEYS  1 epoch  2 seq  3 qseq  4 tok
-- ARGV  epoch, then the highest block, queue number and token that may have been given before, or -1
-- Answer: the highest epoch known in the shard.
local call = redis.call

local function raise(key, to)
  local known = tonumber(call('GET', key) or '-1')
  if known >= tonumber(to) then return string.format('%.0f', known) end
  call('SET', key, to)
  return to
end

raise(KEYS[2], ARGV[2])
raise(KEYS[3], ARGV[3])
raise(KEYS[4], ARGV[4])
return raise(KEYS[1], ARGV[1])
