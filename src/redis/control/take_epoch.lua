#!lua flags=allow-oom
-- take_epoch: gives a leader an epoch above every known one, so that two leaders never share one. Sent twice it takes two
-- epochs, and the first stays unused.
-- Answer: the epoch.
local call = redis.call

local stored = tonumber(call('HGET', KEYS.installation, META.epoch) or '0')
local epoch = string.format('%.0f', math.max(stored, tonumber(ARGV.highestEpoch)) + 1)
call('HSET', KEYS.installation, META.epoch, epoch)
return epoch
