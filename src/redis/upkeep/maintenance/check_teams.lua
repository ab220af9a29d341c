#!lua flags=allow-oom
-- check_teams: goes through the bands of the ring from the last one down. A team that `teams` lacks is added, because
-- no claim would ever ask it; only a Redis that lost writes can do that. A band whose virtual time has grown large is
-- lowered before it can run into the next one; its queues keep their order. `below` is the team number to continue
-- below, '' = start at the last band.
-- Answer {teams added, queues lowered, number to continue below, or '' when all bands were checked}
local call = redis.call
--#include base/ring/bands

-- A band is lowered from this virtual time on: queues past half of it move just behind the others.
local FAR = 68719476736
local HALF_FAR = 34359738368

local queues_max = tonumber(ARGV.queuesMax)
local added, lowered, below = 0, 0, ARGV.below
use_ring(KEYS.ring, KEYS.teams)

local function lower(u)
  local low, half = u * BAND, whole(u * BAND + HALF_FAR)
  local far = call('ZRANGE', KEYS.ring, half, '(' .. band_start(u + 1), 'BYSCORE', 'LIMIT', 0, queues_max - lowered)
  local last = call('ZRANGE', KEYS.ring, '(' .. half, band_start(u), 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
  local score, scored = last[2] and tonumber(last[2]) or low, {}
  for i, id in ipairs(far) do
    scored[i * 2 - 1] = whole(score + i)
    scored[i * 2] = id
  end
  call('ZADD', KEYS.ring, unpack(scored))
  lowered = lowered + #far
end

for _ = 1, tonumber(ARGV.bandsMax) do
  local from = below == '' and '+inf' or '(' .. band_start(below)
  local tail = call('ZRANGE', KEYS.ring, from, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
  if not tail[2] then return { added, lowered, '' } end
  local u = whole(math.floor(tonumber(tail[2]) / BAND))
  if join_teams(u) then added = added + 1 end
  if tonumber(tail[2]) - u * BAND > FAR then lower(u) end
  if lowered == queues_max then return { added, lowered, below } end
  below = u
end
return { added, lowered, below }
