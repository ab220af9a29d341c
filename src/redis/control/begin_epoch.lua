#!lua flags=allow-oom
-- begin_epoch: writes a leader's epoch to a shard, and raises the id counters to the floor, where ids up to it may have
-- been given before. No value is ever lowered.
-- Answer: the highest epoch known in the shard.
local call = redis.call

local function raise(key, to)
  local known = tonumber(call('GET', key) or '-1')
  if known >= tonumber(to) then return string.format('%.0f', known) end
  call('SET', key, to)
  return to
end

raise(KEYS.jobBlock, ARGV.jobBlock)
raise(KEYS.queueNumber, ARGV.queue)
raise(KEYS.fencingToken, ARGV.token)
return raise(KEYS.leaderEpoch, ARGV.epoch)
