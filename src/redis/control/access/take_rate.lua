#!lua flags=allow-oom
-- take_rate: takes some of a token's requests by GCRA: a key holds the moment, in microseconds of Redis time, at which all
-- that was taken will have been earned, and a burst may be taken ahead of it. The key expires then.
-- Allowed when Redis is full: it is one small key, and reads must go on.
-- Answer: taken, what could still be taken, microseconds until one can be, microseconds until a whole burst can be.
-- Sent twice it takes twice: the token has a slice less, and never one more.
local call = redis.call

local interval, burst, wanted = tonumber(ARGV.intervalUs), tonumber(ARGV.burst), tonumber(ARGV.wanted)
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local debt = math.max(0, tonumber(call('GET', KEYS.rate) or '0') - now)
-- A clock that was set back must not stop the token for longer than a burst takes.
if debt > burst * interval then debt = burst * interval end
-- The small part is for what division rounds off.
local room = math.floor(burst - debt / interval + 0.000001)
local taken = math.max(0, math.min(wanted, room))
if taken > 0 then
  debt = debt + taken * interval
  call('SET', KEYS.rate, string.format('%.0f', now + debt), 'PX', math.ceil(debt / 1000) + 1)
end
local left = math.max(0, room - taken)
local wait = left > 0 and 0 or math.max(1, debt - (burst - 1) * interval)
return { taken, left, math.ceil(wait), math.ceil(debt) }
