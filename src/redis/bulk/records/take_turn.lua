#!lua flags=allow-oom
-- take_turn: lets one executor work off the bulks of a shard: one page of them at a time, so that pushes and claims wait for
-- one page at most. A turn that is not renewed ends by itself.
-- Answer 1 when the turn is the sender's.
local call = redis.call

local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends_at, holder = string.match(call('GET', KEYS.bulkTurn) or '', '^(%d+) (%S+)$')
-- A turn that ends too far ahead was taken before the clock was set back.
local is_held = ends_at and tonumber(ends_at) > now and tonumber(ends_at) <= now + tonumber(ARGV.turnMs)
if is_held and holder ~= ARGV.holder then return 0 end
call('SET', KEYS.bulkTurn, string.format('%.0f', now + ARGV.turnMs) .. ' ' .. ARGV.holder, 'PX', 2 * ARGV.turnMs)
return 1
