#!lua
-- reserve_ids: the next block of job sequence numbers. Goes on from the greater of the counter and what the caller
-- knows, so that a Redis that lost its last writes never gives a number twice.
-- KEYS  1 seq
-- ARGV  highest block the caller knows, or -1
-- Answer: the block; its numbers are block × 128 … block × 128 + 127.
local block = math.max(tonumber(redis.call('GET', KEYS[1]) or '-1'), tonumber(ARGV[1])) + 1
redis.call('SET', KEYS[1], string.format('%.0f', block))
return string.format('%.0f', block)
