-- Used by claim: which teams and queues the next claim asks. Declares `Candidates`. Wants the functions of `bands`.

local Candidates = {}

-- One claim removes at most this many teams without a runnable queue from `teams`.
local LEFT_TEAMS_MAX = 8
-- At most this many positions of the ring are searched when `teams` shows too few that can run.
local RING_LOOKS_MAX = 2

-- Answers up to `most` queues of a team: a quarter from the head of its band, the rest from where the rotation stands.
local function queues_in_band(size, u, most, rotation)
  local low, high = band_start(u), '(' .. band_start(u + 1)
  local count = size <= most and size or call('ZCOUNT', ring_key, low, high)
  if count <= most then return call('ZRANGE', ring_key, low, high, 'BYSCORE', 'LIMIT', 0, most) end
  local head = math.ceil(most / 4)
  local found = call('ZRANGE', ring_key, low, high, 'BYSCORE', 'LIMIT', 0, head)
  local before = count < size and call('ZCOUNT', ring_key, '-inf', '(' .. low) or 0
  local start = head + rotation * (most - head) % (count - head)
  local last = math.min(start + most - head, count) - 1
  for _, id in ipairs(call('ZRANGE', ring_key, before + start, before + last)) do found[#found + 1] = id end
  return found
end

-- Answers up to `most` queues of a team that has held ones, in the same way. `held` has their ids and their `count`.
local function unheld_in_band(u, most, rotation, held)
  local low, high = band_start(u), '(' .. band_start(u + 1)
  local window = most + held.count
  local found, seen = {}, {}
  local function add_unheld(ids, limit)
    for _, id in ipairs(ids) do
      if #found >= limit then return end
      if not held[id] and not seen[id] then
        seen[id] = true
        found[#found + 1] = id
      end
    end
  end
  local count = call('ZCOUNT', ring_key, low, high)
  add_unheld(call('ZRANGE', ring_key, low, high, 'BYSCORE', 'LIMIT', 0, window), count <= window and most or math.ceil(most / 4))
  if count <= window then return found end
  local before = call('ZCOUNT', ring_key, '-inf', '(' .. low)
  local start = rotation * most % count
  add_unheld(call('ZRANGE', ring_key, before + start, before + math.min(start + window, count) - 1), most)
  return found
end

-- Answers what a claim may ask of a team. Of a held team only its callbacks run.
local function queues_of(ask, size, u, most)
  local callback_queue = ask.held_teams[u]
  if callback_queue then return call('ZSCORE', ring_key, callback_queue) and { callback_queue } or {} end
  local held = ask.held_queues[u]
  if held then return unheld_in_band(u, most, ask.rotation, held) end
  return queues_in_band(size, u, most, ask.rotation)
end

-- A held team that stays behind while others run would let every team that joins start with it at the head of them.
local HELD_LAG_MAX = 4096
local function keep_up(held, first)
  local to = tonumber(call('ZSCORE', teams_key, first) or '')
  local behind = tonumber(call('ZSCORE', teams_key, held[1]) or '')
  if not to or not behind or to - behind <= HELD_LAG_MAX then return end
  local moved = {}
  for _, u in ipairs(held) do
    moved[#moved + 1] = whole(to)
    moved[#moved + 1] = u
  end
  call('ZADD', teams_key, 'XX', 'GT', unpack(moved))
end

-- With one team there is nothing to choose. Answers nil when it has nothing to run.
local function of_lone_team(size, u, ask)
  local ids = queues_of(ask, size, u, ask.queues)
  if #ids == 0 then return nil end
  local flat = { u, #ids }
  for i, id in ipairs(ids) do flat[i + 2] = id end
  return flat
end

local function put_first(named, queue)
  local ids, teams = { queue.localId }, {}
  for _, team in ipairs(named) do
    if team.u ~= queue.team.number then
      teams[#teams + 1] = team
    else
      for _, id in ipairs(team.ids) do
        if id ~= queue.localId then ids[#ids + 1] = id end
      end
    end
  end
  named[1] = { u = queue.team.number, ids = ids }
  for i, team in ipairs(teams) do named[i + 1] = team end
end

-- ask: teams and queues to name at most · rotation · full_teams = how many listed teams have no headroom · first = a queue
-- to ask before all others, or nil · asked = the teams of this claim · headroom by number, other_headroom: what they may
-- take · held_teams by number, each with its callback queue, and held_count of them · held_queues by number of the team.
-- Answers the size of the ring and, of each team: number, count of its queues, local id…
function Candidates.next(ask)
  local size = call('ZCARD', ring_key)
  if size == 0 then return 0, {} end
  local window = ask.teams + LEFT_TEAMS_MAX + ask.full_teams + ask.held_count
  local known = call('ZRANGE', teams_key, 0, window - 1)
  if #known == 1 and not ask.first then
    local flat = of_lone_team(size, known[1], ask)
    if flat then return size, flat end
  end
  local knows_all = #known < window
  local most = math.min(ask.teams, math.max(#known, 1))
  local each = math.floor(ask.queues / most)
  local named, full, left, seen, is_head = {}, {}, {}, {}, true
  local passed = {}
  local claimed_of = {}
  for _, team in ipairs(ask.asked) do claimed_of[team.number] = team.claimed end

  local function add(u)
    local ids = queues_of(ask, size, u, each)
    if #ids > 0 then named[#named + 1] = { u = u, ids = ids } end
    return #ids > 0
  end
  local function look_at(u)
    if seen[u] then return end
    seen[u] = true
    if ask.held_teams[u] then
      if is_head then passed[#passed + 1] = u end
      add(u)
    elseif (ask.headroom[u] or ask.other_headroom) <= (claimed_of[u] or 0) then
      full[#full + 1], is_head = u, false
    elseif add(u) then
      if is_head and #passed > 0 then keep_up(passed, u) end
      is_head = false
    elseif is_head then
      -- When all that could run is held, the team stays in line as a held team does.
      local is_held = ask.held_queues[u] and call('ZCOUNT', ring_key, band_start(u), '(' .. band_start(u + 1)) > 0
      local list = is_held and passed or left
      list[#list + 1] = u
    end
  end

  local from_head = knows_all and #known <= ask.teams and most or math.ceil(most / 4)
  for _, u in ipairs(known) do
    if #named >= from_head or #left >= LEFT_TEAMS_MAX then break end
    look_at(u)
  end
  is_head = false
  if #named < most then
    local count = knows_all and #known or call('ZCARD', teams_key)
    local start = count == 0 and 0 or ask.rotation * (most - from_head) % count
    if not knows_all then known = call('ZRANGE', teams_key, start, start + most - 1) end
    for i = 0, #known - 1 do
      if #named >= most then break end
      look_at(known[knows_all and (start + i) % count + 1 or i + 1])
    end
  end
  -- Many teams that left may hide those that can run, and a team that `teams` lacks is found here.
  if #named < most and (not knows_all or #named + #full == 0) then
    for i = 1, RING_LOOKS_MAX do
      local rank = (ask.rotation + i) * 7919 % size
      local slice = call('ZRANGE', ring_key, rank, rank + most - 1, 'WITHSCORES')
      for at = 2, #slice, 2 do
        local u = whole(math.floor(tonumber(slice[at]) / BAND))
        if #named < most and not seen[u] then
          join_teams(u)
          look_at(u)
        end
      end
    end
  end
  -- Teams without headroom come last: they may have some by the next claim.
  for _, u in ipairs(full) do
    if #named >= most then break end
    add(u)
  end
  if #left > 0 then call('ZREM', teams_key, unpack(left)) end

  if ask.first then put_first(named, ask.first) end
  local flat = {}
  for _, team in ipairs(named) do
    flat[#flat + 1] = team.u
    flat[#flat + 1] = #team.ids
    for _, id in ipairs(team.ids) do flat[#flat + 1] = id end
  end
  return size, flat
end
