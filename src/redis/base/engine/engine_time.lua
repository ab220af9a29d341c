-- Shared by the steps that only read. Declares `engine_time`; wants `call`.

-- The time of a shard in Unix ms, as its steps go by (lib/clock.lua): Redis TIME, and what it is held ahead of that.
local function engine_time(clock)
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(call('HGET', clock, CLOCK.heldMs) or '0')
end
