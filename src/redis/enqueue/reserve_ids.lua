#!lua
-- reserve_ids: reserves the next block of job sequence numbers. It continues from the greater of the counter and
-- `highestBlock`, the highest that the caller knows (-1 = none), so a Redis that lost its last writes repeats no number.
-- Answer: the block; its numbers are block × 128 … block × 128 + 127.
local known = tonumber(redis.call('GET', KEYS.jobBlock) or '-1')
local block = string.format('%.0f', math.max(known, tonumber(ARGV.highestBlock)) + 1)
redis.call('SET', KEYS.jobBlock, block)
return block
