-- Shared by every step that uses time. Declares `call`, `pad13` and `shard_now`.
local call = redis.call

-- A time as 13 digits, as the head of a job record holds it.
local function pad13(ms) return string.format('%013.0f', ms) end

-- The most that time may go back without being a jump, and the most that may pass between two steps.
local BACK_MS_MAX, GAP_MS_MAX = 5000, 10000

-- The shard's time in Unix ms, from Redis TIME. `clk` holds t = the time of the last step, j = the time after the last
-- jump, jf and jb = jumps counted. Time that is behind the last step's by 5 s or less (another node leads, a clock is
-- corrected) stands still until TIME is there again; by more, TIME is believed at once. So a step's time is never
-- behind TIME, nor ahead of it by more than 5 s: what becomes due by it (now + delay) is never early, and late by 5 s
-- at most. Such a jump back, and a gap of over 10 s forward, stamps all leases anew before anybody is judged by them
-- (hard deadlines, which lie in every queue's a:, rest for a while instead: see reap). What was due at a time keeps it.
local function shard_now(clk, ex, lease_ms)
  local t = call('TIME')
  local wall = t[1] * 1000 + math.floor(t[2] / 1000)
  local last = tonumber(call('HGET', clk, 't') or '')
  local ahead = last and last - wall or 0
  if ahead > 0 and ahead <= BACK_MS_MAX then return last end
  if ahead > 0 or -ahead > GAP_MS_MAX then
    call('HINCRBY', clk, ahead > 0 and 'jb' or 'jf', 1)
    call('HSET', clk, 'j', pad13(wall))
    for _, executor in ipairs(call('ZRANGE', ex, 0, -1)) do call('ZADD', ex, wall + lease_ms, executor) end
  end
  call('HSET', clk, 't', pad13(wall))
  return wall
end
