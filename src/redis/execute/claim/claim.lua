#!lua flags=allow-oom
-- claim: gives an executor a batch of ready jobs; the entry in a: is the slot. The same request id gives the same batch.
-- Deals between the teams that are asked, then between a team's queues, and never beyond a room: how many jobs of a
-- team, or of a queue, this claim may take. One without room is passed over. A job that does not fit the bytes stays,
-- and its queue is left alone.
-- KEYS  1 clk  2 ex  3 in:<executor>  4 ring  5 tok  6 set  7 near  8 tu  9 teams  10 tn, then (q r b a p) × candidates
-- ARGV  lease_ms, executor, request id, jobs wanted, bytes max, quantum, grace_ms, known token, turn, queues to name,
--       shards, room of other teams, room of other queues, teams, (team, room)…, queues, (local id, room)…,
--       teams asked, (number of the team, queues, local id…)…
-- Answer {'lost'} when the lease is gone, else
--       {'ok', now, token, next due or '', ring size, {whom to ask next: number of a team, queues, local id…},
--        {id, queue index, record, request or ''…}, {queue index, team/name…}, {settings hash, json…},
--        {team passed over for want of room…}, bytes of the largest job that did not fit or ''}
-- Transition: pending → processing.
--#include lib/clock
--#include lib/usage
--#include lib/bands
--#include execute/claim/candidates
--#include lib/record

-- Ids of cancelled jobs that one claim passes over: a million of them must not hold Redis up. The queue stays in the
-- ring for the next claim.
local SKIPPED_MAX = 1024
-- Queues left alone for a job that does not fit, after which no place is dealt any more.
local ASIDE_MAX = 16
-- Teams named as passed over.
local HELD_BACK_MAX = 16
-- Teams that are asked at least, if so many can run.
local TEAMS_ASKED_MIN = 4

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function number() return tonumber(arg()) end

local lease_ms, executor, request_id = number(), arg(), arg()
local wanted, bytes_max, quantum, grace_ms = number(), number(), number(), number()
local known_token, turn, queues_named, shards = number(), number(), number(), number()
local held_key, ring = KEYS[3], KEYS[4]
use_ring(ring, KEYS[9])

local now = shard_now(KEYS[1], KEYS[2], lease_ms)
local lease = call('ZSCORE', KEYS[2], executor)
if not lease or tonumber(lease) <= now then return { 'lost' } end

-- By number of the team, and by local id. Teams that share the last band share the widest room of any of them.
local other_teams_room, other_queues_room = number(), number()
local team_rooms, team_names, queue_rooms, full_teams = {}, {}, {}, 0
local listed = number()
if listed > 0 then
  local names, rooms = {}, {}
  for i = 1, listed do names[i], rooms[i] = arg(), number() end
  for i, u in ipairs(call('HMGET', KEYS[10], unpack(names))) do
    if u then
      local shared = team_rooms[u] or (u == LAST_TEAM and other_teams_room or 0)
      team_rooms[u], team_names[u] = math.max(rooms[i], shared), names[i]
    end
    if rooms[i] <= 0 then full_teams = full_teams + 1 end
  end
end
for _ = 1, number() do
  local id = arg()
  queue_rooms[id] = number()
end

-- Of most queues that are asked no more is needed than this: their keys are taken when they are opened.
local teams, queues = {}, {}
for i = 1, number() do
  local team = { u = arg(), at = 1, queues = {}, dealt = 0, taken = 0 }
  team.room = team_rooms[team.u] or other_teams_room
  team.is_held_back = team.room <= 0
  teams[i] = team
  for j = 1, number() do
    local index = #queues + 1
    local id = arg()
    local queue = { index = index, team = team, id = id, dealt = 0, room = queue_rooms[id] or other_queues_room }
    team.queues[j], queues[index] = queue, queue
  end
end

local function take_keys(queue)
  local base = 10 + (queue.index - 1) * 5
  queue.q, queue.r, queue.b, queue.a, queue.p =
    KEYS[base + 1], KEYS[base + 2], KEYS[base + 3], KEYS[base + 4], KEYS[base + 5]
end

local jobs, names, settings = {}, {}, {}
local hashes, named, bytes = {}, {}, 0

local function add_job(queue, id, body, request)
  -- By index: table.insert takes twice as long, and this is done for each job.
  local n = #jobs
  jobs[n + 1], jobs[n + 2], jobs[n + 3], jobs[n + 4] = id, queue.index, body, request
  bytes = bytes + #body + #request
  local hash = string.sub(body, 20, 30)
  if not hashes[hash] then
    hashes[hash] = true
    table.insert(settings, hash)
    table.insert(settings, call('HGET', KEYS[6], hash) or '')
  end
  if not named[queue.index] then
    named[queue.index] = true
    table.insert(names, queue.index)
    table.insert(names, queue.name or call('HGET', queue.q, 'n') or '')
  end
end

-- The field of p: that has the tail of the request part; nil for a record whose flags say that there is none.
local function large_field(id, body)
  if not Record.is_large(body) then return nil end
  return string.format('%.0f', math.floor(tonumber(id) / (16 * shards)))
end

local function request_of(queue, id, body)
  local field = large_field(id, body)
  return field and call('HGET', queue.p, field) or ''
end

local taken, bytes_wanted, wanting = 0, 0, nil

-- How many teams the next claim asks: enough for a quantum each, and, of teams that have less, twice as many as gave
-- something until a batch is full.
local function teams_to_ask()
  local giving = 0
  for _, team in ipairs(teams) do
    if team.taken > 0 then giving = giving + 1 end
  end
  if taken < wanted then giving = giving * 2 end
  return math.min(queues_named, math.max(TEAMS_ASKED_MIN, math.ceil(wanted / quantum), giving))
end

local function held_back()
  local found = {}
  for _, team in ipairs(teams) do
    if team.is_held_back and #found < HELD_BACK_MAX then
      local field
      for _, queue in ipairs(team.queues) do field = field or queue.name end
      local name = team_names[team.u] or Usage.team_of(field or call('HGET', KEYS[10 + (team.queues[1].index - 1) * 5 + 1], 'n'))
      if name then table.insert(found, name) end
    end
  end
  return found
end

local function answer(token)
  local size, candidates = Candidates.next({
    teams = teams_to_ask(), queues = queues_named, turn = turn, full_teams = full_teams, first = wanting,
    asked = teams, rooms = team_rooms, other_room = other_teams_room,
  })
  local due = call('ZRANGE', KEYS[7], 0, 0, 'WITHSCORES')
  return {
    'ok', pad13(now), token, due[2] or '', size, candidates, jobs, names, settings, held_back(),
    bytes_wanted > 0 and string.format('%.0f', bytes_wanted) or '',
  }
end

-- A lost answer: the same jobs again, as far as they are still held under that claim's token.
local last = call('HGET', held_key, '#c')
if last then
  local same, token, ids = string.match(last, '^(%S+) (%d+) (.*)$')
  if same == request_id then
    local by_id = {}
    for _, queue in ipairs(queues) do
      take_keys(queue)
      by_id[queue.id] = queue
    end
    for id in string.gmatch(ids, '%d+') do
      local q, held_token = string.match(call('HGET', held_key, id) or '', '^(%d+)|(%d+)$')
      if held_token == token and by_id[q] then
        local body = call('HGET', by_id[q].b, id)
        if body then add_job(by_id[q], id, body, request_of(by_id[q], id, body)) end
      end
    end
    return answer(token)
  end
end

-- Reads from the head of the queue's ready list up to `count` jobs that exist and fit; ids of cancelled jobs are passed
-- over.
local skipped, aside = 0, 0
local function take(queue, count)
  local got = 0
  while got < count and not queue.is_aside and skipped < SKIPPED_MAX do
    local ids = call('LRANGE', queue.r, queue.consumed, queue.consumed + count - got - 1)
    if #ids == 0 then break end
    local bodies = call('HMGET', queue.b, unpack(ids))
    for i, id in ipairs(ids) do
      local body = bodies[i]
      if body then
        -- By its length first: what does not fit is not read.
        local large = large_field(id, body)
        local size = #body + (large and call('HSTRLEN', queue.p, large) or 0)
        if bytes + size > bytes_max then
          queue.is_aside, aside = true, aside + 1
          if size > bytes_wanted then bytes_wanted, wanting = size, queue end
          break
        end
        add_job(queue, id, body, large and call('HGET', queue.p, large) or '')
        local marks = queue.taken
        local n = #marks
        marks[n + 1], marks[n + 2] = now + Record.timeout_ms(body) + grace_ms, id
        got = got + 1
      else
        queue.gone, skipped = queue.gone + 1, skipped + 1
      end
      queue.consumed = queue.consumed + 1
    end
  end
  queue.free, queue.room = queue.free - got, queue.room - got
  queue.team.room, queue.team.taken = queue.team.room - got, queue.team.taken + got
  taken = taken + got
end

local function open(queue)
  take_keys(queue)
  local live = call('HMGET', queue.q, 'a', 'm', 'n')
  queue.name = live[3]
  queue.consumed, queue.gone, queue.taken = 0, 0, {}
  queue.ready = live[1] == '1' and call('LLEN', queue.r) or 0
  queue.free = queue.ready
  if queue.ready > 0 and live[2] then
    queue.free = (tonumber(live[2]) or 1) - call('ZCARD', queue.a)
    queue.limited = true
  end
  queue.opened = true
end

-- Jobs that the queue could start, its limit allowing, beside the places dealt to it.
local function startable(queue)
  return math.min(queue.free, queue.ready - queue.consumed) - queue.dealt
end

-- Deals up to `most` places to one queue, and answers how many.
local function offer(queue, most)
  local room = queue.room - queue.dealt
  if not queue.opened then
    -- It is in the ring, so that it has something to start; it need not be opened for that.
    if room <= 0 then
      queue.team.is_held_back = true
      return 0
    end
    open(queue)
  end
  if queue.is_aside then return 0 end
  local given = math.min(most, startable(queue))
  if given > room then
    queue.team.is_held_back = true
    given = room
  end
  if given <= 0 then return 0 end
  queue.dealt = queue.dealt + given
  return given
end

local function has_more(team)
  for _, queue in ipairs(team.queues) do
    if not queue.opened or startable(queue) > 0 then return true end
  end
  return false
end

-- A team's turn: up to `most` places, to the queue whose turn it is and on to the next.
local function serve(team, most)
  local room = team.room - team.dealt
  if room <= 0 then
    team.is_held_back = team.is_held_back or has_more(team)
    return 0
  end
  local count = math.min(most, room)
  local left = count
  for _ = 1, #team.queues do
    left = left - offer(team.queues[team.at], left)
    team.at = team.at % #team.queues + 1
    if left == 0 then break end
  end
  team.dealt = team.dealt + count - left
  return count - left
end

-- Deals `count` places to the teams in rounds of one quantum each, so that one hot team still fills a batch. Queues are
-- opened only until the batch is full. Answers whether any place was dealt.
local function deal(count)
  local dealt, progress = 0, true
  while progress and dealt < count do
    progress = false
    for _, team in ipairs(teams) do
      if dealt >= count then break end
      local given = serve(team, math.min(quantum, count - dealt))
      if given > 0 then dealt, progress = dealt + given, true end
    end
  end
  return dealt > 0
end

-- Ids of cancelled jobs and jobs that do not fit leave places free: these are dealt again.
while taken < wanted and aside < ASIDE_MAX and skipped < SKIPPED_MAX and deal(wanted - taken) do
  for _, queue in ipairs(queues) do
    if queue.dealt > 0 then
      take(queue, queue.dealt)
      queue.dealt = 0
    end
  end
  for _, team in ipairs(teams) do team.dealt = 0 end
end

-- Writes that cannot fail; the pop last.
local token = ''
if taken > 0 then
  token = string.format('%.0f', math.max(tonumber(call('GET', KEYS[5]) or '0'), known_token) + 1)
  call('SET', KEYS[5], token)
  local held, ids = {}, {}
  for _, queue in ipairs(queues) do
    if queue.opened then
      local holder = queue.id .. '|' .. token
      for i = 2, #queue.taken, 2 do
        local n, id = #ids, queue.taken[i]
        ids[n + 1], held[n * 2 + 1], held[n * 2 + 2] = id, id, holder
      end
      if #queue.taken > 0 then
        call('ZADD', queue.a, unpack(queue.taken))
        Usage.note(Usage.team_of(queue.name), 0, 0, #queue.taken / 2)
      end
    end
  end
  Usage.write(KEYS[8])
  call('HSET', held_key, '#c', request_id .. ' ' .. token .. ' ' .. table.concat(ids, ' '), unpack(held))
end
for _, queue in ipairs(queues) do
  if queue.opened and queue.consumed > 0 then
    local has_more_to_run = queue.ready > queue.consumed
    if has_more_to_run and (not queue.limited or queue.free > 0) then
      call('ZINCRBY', ring, #queue.taken / 2, queue.id)
    else
      call('ZREM', ring, queue.id)
    end
    if queue.gone > 0 then call('HINCRBY', queue.q, 'g', -queue.gone) end
    call('LTRIM', queue.r, queue.consumed, -1)
  end
end
-- Also where a team was asked alone: one that comes and goes must not find the other where it left it.
for _, team in ipairs(teams) do
  if team.taken > 0 then call('ZINCRBY', KEYS[9], team.taken, team.u) end
end
return answer(token)
