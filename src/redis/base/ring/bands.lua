-- Shared by the steps that know the ring. Declares `BAND`, `LAST_TEAM`, `whole`, `band_start`, `use_ring` and
-- `join_teams`.
--
-- The ring has a band for each team, so no team's queues come before another's: the score of a queue is its team's
-- number × 2^37 plus the queue's virtual time. `teams` orders the teams by their own virtual time. A team without a
-- runnable queue stays there until a claim finds it at the head; otherwise a team that comes and goes would start at the
-- head each time.

-- With 65,535 teams a score stays below 2^53, up to which a double is exact. A band is lowered long before it is full.
local BAND = 137438953472
local LAST_TEAM = '65535'

local function whole(value) return string.format('%.0f', value) end
local function band_start(u) return whole(u * BAND) end

local ring_key, teams_key
local joined = {}
local function use_ring(given_ring, given_teams) ring_key, teams_key = given_ring, given_teams end

-- A team joins just behind the head: with the head's own score it would starve the others at limit 1. Answers whether it
-- was missing.
local function join_teams(u)
  if joined[u] then return false end
  joined[u] = true
  if call('ZSCORE', teams_key, u) then return false end
  local head = call('ZRANGE', teams_key, 0, 0, 'WITHSCORES')
  return call('ZADD', teams_key, head[2] and whole(tonumber(head[2]) + 1) or 0, u) == 1
end
