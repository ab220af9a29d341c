#!lua flags=no-writes
-- read_blocks: reads a page of the blocks of a history, the newest one below number `below` first.
-- Answer {number of the first block of the page + 1, block…}; no blocks when they are not those of the history.
local call = redis.call
--#include history/blocks

local look = Blocks.look()
local stop = look.fits and look.first + look.sealed or 0
local below = math.min(tonumber(ARGV.below), stop)
if below <= look.first then return { '0' } end
local from = stop - below
local answer = call('LRANGE', KEYS.blocks, from, from + tonumber(ARGV.count) - 1)
table.insert(answer, 1, string.format('%.0f', below))
return answer
