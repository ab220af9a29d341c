#!lua flags=allow-oom
-- take_epoch: gives a leader an epoch above every known one, so that two leaders never share one. Sent twice it takes two
-- epochs, and the first stays unused.
-- KEYS  1 meta
-- ARGV  the highest epoch known to the shards or to the caller
-- Answer: the epoch.
local call = redis.call

local stored = tonumber(call('HGET', KEYS[1], 'term') or '0')
local epoch = string.format('%.0f', math.max(stored, tonumber(ARGV[1])) + 1)
call('HSET', KEYS[1], 'term', epoch)
return epoch
