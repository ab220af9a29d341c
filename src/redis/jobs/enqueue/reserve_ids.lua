#!lua
-- reserve_ids: reserves the next `blocks` blocks of job sequence numbers. It continues from the greater of the counter and
-- `highestBlock`, the highest that the caller knows (-1 = none), so a Redis that lost its last writes repeats no number.
-- Answer: the first of them; a block's numbers are block × 128 … block × 128 + 127.
local known = tonumber(redis.call('GET', KEYS.jobBlock) or '-1')
local highest = math.max(known, tonumber(ARGV.highestBlock))
redis.call('SET', KEYS.jobBlock, string.format('%.0f', highest + tonumber(ARGV.blocks)))
return string.format('%.0f', highest + 1)
