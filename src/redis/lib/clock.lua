-- Shared by every step that uses time. Declares `call`, `pad13` and `shard_now`.
local call = redis.call

-- A time as 13 digits, the form in the head of a job record.
local function pad13(ms) return string.format('%013.0f', ms) end

-- Beyond these, a step back or a gap between two steps counts as a jump of the clock.
local BACK_MS_MAX, GAP_MS_MAX = 5000, 10000

-- Notes the latest time of any step before a jump back, unless an earlier one was seen by a version that noted none: that
-- time is unknown for good.
local function note_latest(clock, jumps_back, last)
  local noted = call('HMGET', clock, CLOCK.notedBack, CLOCK.latestTime)
  if tonumber(noted[1] or '0') < jumps_back - 1 then return end
  local latest = math.max(last, tonumber(noted[2] or '0'))
  call('HSET', clock, CLOCK.latestTime, pad13(latest), CLOCK.notedBack, jumps_back)
end

-- The shard's time in Unix ms, from Redis TIME. When TIME is behind the last step by 5 s or less (a failover, a corrected
-- clock), time stands still until TIME catches up; when it is further behind, TIME is believed at once. So a step's time
-- is never behind TIME and at most 5 s ahead of it: a job delayed by it is never early and at most 5 s late. A jump back,
-- or a gap of more than 10 s forward, renews all leases before any step judges an executor by them. Hard deadlines, which
-- are spread over all queues, are not judged for a while instead (see reap). Due times do not change.
local function shard_now(clock, executors, lease_ms)
  local time = call('TIME')
  local wall = time[1] * 1000 + math.floor(time[2] / 1000)
  local last = tonumber(call('HGET', clock, CLOCK.lastTime) or '')
  local ahead = last and last - wall or 0
  if ahead > 0 and ahead <= BACK_MS_MAX then return last end
  if ahead > 0 or -ahead > GAP_MS_MAX then
    local jumps = call('HINCRBY', clock, ahead > 0 and CLOCK.jumpsBack or CLOCK.jumpsForward, 1)
    call('HSET', clock, CLOCK.jumpedAt, pad13(wall))
    if ahead > 0 then note_latest(clock, jumps, last) end
    for _, executor in ipairs(call('ZRANGE', executors, 0, -1)) do call('ZADD', executors, wall + lease_ms, executor) end
  end
  call('HSET', clock, CLOCK.lastTime, pad13(wall))
  return wall
end
