#!lua flags=allow-oom
-- take_epoch: gives a leader an epoch above all that are known: two leaders that ask at once get two. Sent twice it gives
-- two as well, and the first is nobody's.
-- KEYS  1 meta
-- ARGV  the highest epoch known in the shards, or given before
-- Answer: the epoch.
local call = redis.call

local stored = tonumber(call('HGET', KEYS[1], 'term') or '0')
local epoch = string.format('%.0f', math.max(stored, tonumber(ARGV[1])) + 1)
call('HSET', KEYS[1], 'term', epoch)
return epoch
