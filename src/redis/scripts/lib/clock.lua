-- Shared by every step that uses time. Declares `call`, `pad13` and `shard_now`.
local call = redis.call

-- A time as 13 digits, as the head of a job record holds it.
local function pad13(ms) return string.format('%013.0f', ms) end

-- The shard's time in Unix ms, from Redis TIME. `clk` holds t = last time seen, b = first time seen after a jump
-- back, j = the time after the last jump, jf and jb = jumps counted. A gap of over 10 s between two steps, either way,
-- is a jump: it stamps all leases anew before anybody is judged by them (hard deadlines, which lie in every queue's
-- a:, rest for a while instead: see reap). Time that goes back is held for at most 5 s, then accepted.
local function shard_now(clk, ex, lease_ms)
  local t = call('TIME')
  local wall = t[1] * 1000 + math.floor(t[2] / 1000)
  local seen = call('HMGET', clk, 't', 'b')
  local last, back = tonumber(seen[1]), tonumber(seen[2])
  local now = wall
  if last and wall < last then
    if not back then
      call('HSET', clk, 'b', wall)
      call('HINCRBY', clk, 'jb', 1)
      return last
    end
    if wall >= back and wall - back < 5000 then return last end
  end
  if last and math.abs(wall - last) > 10000 then
    if wall > last then call('HINCRBY', clk, 'jf', 1) end
    call('HSET', clk, 'j', pad13(wall))
    for _, executor in ipairs(call('ZRANGE', ex, 0, -1)) do call('ZADD', ex, wall + lease_ms, executor) end
  end
  if back then call('HDEL', clk, 'b') end
  call('HSET', clk, 't', pad13(now))
  return now
end
