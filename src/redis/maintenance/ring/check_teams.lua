#!lua flags=allow-oom
-- check_teams: goes through the bands of the ring, the last one first. A team that `teams` lacks joins it: it would never
-- be asked (only a Redis that lost writes can do that). A band whose virtual time has come far is lowered, its queues in
-- their order, so that it never runs into the next one.
-- KEYS  1 ring  2 teams
-- ARGV  number of the team to go on below, or '' to begin, bands at most, queues to lower at most
-- Answer {teams mended, queues lowered, number to go on below, or '' when all bands were looked at}
local call = redis.call
--#include lib/bands

-- A band is lowered from here on: its queues are put behind those that are not half as far.
local FAR = 68719476736
local HALF_FAR = 34359738368

local bands_max, most = tonumber(ARGV[2]), tonumber(ARGV[3])
local mended, lowered, below = 0, 0, ARGV[1]
use_ring(KEYS[1], KEYS[2])

local function lower(u)
  local low, half = u * BAND, whole(u * BAND + HALF_FAR)
  local far = call('ZRANGE', KEYS[1], half, '(' .. band_start(u + 1), 'BYSCORE', 'LIMIT', 0, most - lowered)
  local last = call('ZRANGE', KEYS[1], '(' .. half, band_start(u), 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
  local score, scored = last[2] and tonumber(last[2]) or low, {}
  for i, id in ipairs(far) do
    scored[i * 2 - 1] = whole(score + i)
    scored[i * 2] = id
  end
  call('ZADD', KEYS[1], unpack(scored))
  lowered = lowered + #far
end

for _ = 1, bands_max do
  local from = below == '' and '+inf' or '(' .. band_start(below)
  local tail = call('ZRANGE', KEYS[1], from, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
  if not tail[2] then return { mended, lowered, '' } end
  local u = whole(math.floor(tonumber(tail[2]) / BAND))
  if join_teams(u) then mended = mended + 1 end
  if tonumber(tail[2]) - u * BAND > FAR then lower(u) end
  if lowered == most then return { mended, lowered, below } end
  below = u
end
return { mended, lowered, below }
