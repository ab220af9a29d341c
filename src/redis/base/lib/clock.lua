-- Shared by every step that uses time. Declares `call`, `pad13` and `shard_now`.
local call = redis.call

-- A time as 13 digits, the form in the head of a job record.
local function pad13(ms) return string.format('%013.0f', ms) end

-- Beyond these, a step back or a gap between two steps counts as a jump of the clock.
local BACK_MS_MAX, GAP_MS_MAX = 5000, 10000

-- Notes the latest time of any step before a jump back.
local function note_latest(clock, last)
  local noted = tonumber(call('HGET', clock, CLOCK.latestTime) or '0')
  call('HSET', clock, CLOCK.latestTime, pad13(math.max(last, noted)))
end

-- How far time is held ahead of Redis TIME from now on; see shard_now. `now` is TIME with what is held, `last` the last step's.
local function held_from(held, most, now, last)
  local ahead = last - now
  if held > most then return 0 end
  if ahead > BACK_MS_MAX and most > 0 then
    return held + ahead <= most and held + ahead or 0
  end
  -- A short hold ends by a step of its own length, or nearly.
  if held > 0 and -ahead > math.min(GAP_MS_MAX, held / 2) then return math.max(0, held + ahead) end
  return held
end

-- The shard's time in Unix ms, from Redis TIME. When TIME is behind the last step by 5 s or less (a failover, a corrected
-- clock), time stands still until TIME catches up; when it is further behind, TIME is believed at once. So a step's time
-- is never behind TIME and at most 5 s ahead of it: a job delayed by it is never early and at most 5 s late. A jump back,
-- or a gap of more than 10 s forward, renews all leases before any step judges an executor by them. Hard deadlines, which
-- are spread over all queues, are not judged for a while instead (see reap). Due times do not change.
--
-- An installation may let time be held instead (`holdMaxMs`): after a jump back it goes on from the last step's, ahead of
-- TIME by what TIME went back (`heldMs`). A gap forward gives back as much of that as it is long, so that a clock that is
-- set right ends the hold, and a pause without steps makes jobs late rather than early. Further back than the bound, or
-- when the bound falls below what is held, TIME is believed. A step of a version that knows no hold believes TIME, too.
local function shard_now(clock, executors, lease_ms)
  local time = call('TIME')
  local wall = time[1] * 1000 + math.floor(time[2] / 1000)
  local noted = call('HMGET', clock, CLOCK.lastTime, CLOCK.heldMs, CLOCK.holdMaxMs)
  local last, held = tonumber(noted[1] or ''), tonumber(noted[2] or '0')
  local was_held = held
  if last and (noted[2] or noted[3]) then
    held = held_from(held, tonumber(noted[3] or '0'), wall + held, last)
    if held ~= was_held then call('HSET', clock, CLOCK.heldMs, string.format('%.0f', held)) end
  end
  local now = wall + held
  local ahead = last and last - now or 0
  if held > was_held then
    call('HINCRBY', clock, CLOCK.jumpsBack, 1)
    call('HSET', clock, CLOCK.jumpedAt, pad13(now))
  end
  if ahead > 0 and ahead <= BACK_MS_MAX then return last end
  if ahead > 0 or -ahead > GAP_MS_MAX then
    if ahead > 0 then note_latest(clock, last) end
    call('HINCRBY', clock, ahead > 0 and CLOCK.jumpsBack or CLOCK.jumpsForward, 1)
    call('HSET', clock, CLOCK.jumpedAt, pad13(now))
    for _, executor in ipairs(call('ZRANGE', executors, 0, -1)) do call('ZADD', executors, now + lease_ms, executor) end
  end
  call('HSET', clock, CLOCK.lastTime, pad13(now))
  return now
end
