#!lua flags=allow-oom
-- claim: gives an executor a batch of ready jobs; the entry in `inFlight` is the slot. The same request id gives the same
-- batch. Deals slots between the teams that are asked, then between a team's queues, never beyond their headroom: how
-- many jobs of a team, or of a queue, this claim may take. A team without headroom is crowded. Of a queue it takes no more
-- than its flow lets begin now, and takes one that has more out of the ring until then. A job that does not fit
-- the bytes stays, and blocks its queue for this claim.
-- Teams have the headroom that `teamHeadroom` says, or `otherTeamsHeadroom`; queues likewise. `rotation` grows by one
-- with each claim. Of a team in `heldTeams` only its callback queue is named to be asked next, and no queue in `heldQueues`.
-- At most `queuesToName` queues are answered to be asked next. Jobs of queues with a rate may begin `leadMs` from now on.
-- Answer {'lost'} when the lease is gone, else
--       {'ok', now, token, next due or '', ring size, {whom to ask next: number of a team, queues, local id…},
--        {queue index, count, {id, record} of each…}, {queue index, team/name and the marks of its flow…}, {settings hash, json…},
--        {crowded team…}, bytes of the largest job that did not fit or '', {position of a job, payload…}}
-- Transition: pending → processing.
--#include base/lib/clock
--#include base/lib/usage
--#include base/ring/bands
--#include base/ring/mark
--#include base/ring/flow
--#include base/ring/throttle
--#include jobs/execute/claim/candidates
--#include base/lib/record
--#include jobs/execute/claim/cancelled
--#include jobs/execute/claim/handout

-- Ids of cancelled jobs that one claim skips: so many of each queue, which nobody else's can take away from it, and so
-- many more in all. A million of them must hold up neither Redis nor other queues; theirs stays in the ring for the next
-- claim.
local SKIPPED_PER_QUEUE_MAX = 32
local SKIPPED_BEYOND_MAX = 1024
-- Skipped ids that cost a queue and its team as much virtual time as a job. No more than those of each queue, so that one
-- that is left with others of them does not stay at the head for ever.
local SKIPPED_PER_JOB = 32
-- At most this many ids are read at once behind a page of nothing but cancelled ones.
local SKIP_PAGE = 16
-- A claim deals no more slots after this many blocked queues.
local BLOCKED_MAX = 16
-- At most this many crowded teams are answered.
local CROWDED_MAX = 16
-- At least this many teams are asked, if that many can run.
local TEAMS_ASKED_MIN = 4

local jobs_max, bytes_max, quantum = tonumber(ARGV.jobsMax), tonumber(ARGV.bytesMax), tonumber(ARGV.quantum)
use_ring(KEYS.ring, KEYS.teams)

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
begin_at = now + lead
local lease = call('ZSCORE', KEYS.executors, ARGV.executor)
if not lease or tonumber(lease) <= now then return { 'lost' } end

-- Headroom is given by number of the team, and by local id. Teams that share the last band have the largest headroom of
-- any of them.
local other_teams, other_queues = tonumber(ARGV.otherTeamsHeadroom), tonumber(ARGV.otherQueuesHeadroom)
local team_headroom, team_names, queue_headroom, full_teams = {}, {}, {}, 0
local listed_teams = ROWS.teamHeadroom
local listed_queues = ROWS.queueHeadroom
if #listed_teams > 0 then
  local listed_names = {}
  for i, row in ipairs(listed_teams) do listed_names[i] = row.team end
  for i, number in ipairs(call('HMGET', KEYS.teamNumbers, unpack(listed_names))) do
    local headroom = tonumber(listed_teams[i].headroom)
    if number then
      local shared = team_headroom[number] or (number == LAST_TEAM and other_teams or 0)
      team_headroom[number], team_names[number] = math.max(headroom, shared), listed_names[i]
    end
    if headroom <= 0 then full_teams = full_teams + 1 end
  end
end
for _, row in ipairs(listed_queues) do queue_headroom[row.localId] = tonumber(row.headroom) end

local held_teams, held_queues, held_count = {}, {}, 0
local team_rows = ROWS.heldTeams
for _, row in ipairs(team_rows) do
  held_teams[row.number], held_count = row.callbackQueue, held_count + 1
end
local queue_rows = ROWS.heldQueues
for _, row in ipairs(queue_rows) do
  local of_team = held_queues[row.number] or { count = 0 }
  of_team[row.localId], of_team.count = true, of_team.count + 1
  held_queues[row.number] = of_team
end

local asked_teams = ROWS.askedTeams
local asked_count = ROWS.queues.count
-- Most queues that are asked are never opened, so they get no table: the queues of a team are the places `first` to `last`
-- of `local_ids`. `opened` has the others by that place, `queues` in the order in which they were opened.
local teams, local_ids, opened, queues = {}, {}, {}, {}
for i, row in ipairs(asked_teams) do
  local first, count = #local_ids + 1, tonumber(row.queueCount)
  local headroom = team_headroom[row.number] or other_teams
  teams[i] = {
    number = row.number, first = first, last = first + count - 1, next = first, dealt = 0, claimed = 0, charge = 0,
    headroom = headroom, is_crowded = headroom <= 0,
  }
  for j = first, first + count - 1 do local_ids[j] = next_arg() end
end

local claimed, bytes_wanted, wanting = 0, 0, nil

-- How many teams the next claim asks: enough for a quantum each, and, of teams that have less, twice as many as gave
-- something until a batch is full.
local function teams_to_ask()
  -- More may be held than is listed yet, and is found sooner this way.
  if claimed == 0 and held_count > 0 then return tonumber(ARGV.queuesToName) end
  local giving = 0
  for _, team in ipairs(teams) do
    if team.claimed > 0 then giving = giving + 1 end
  end
  if claimed < jobs_max then giving = giving * 2 end
  return math.min(tonumber(ARGV.queuesToName), math.max(TEAMS_ASKED_MIN, math.ceil(jobs_max / quantum), giving))
end

local function crowded_teams()
  local found = {}
  for _, team in ipairs(teams) do
    if team.is_crowded and #found < CROWDED_MAX then
      local field
      for index = team.first, team.last do field = field or (opened[index] and opened[index].name) end
      local name = team_names[team.number]
      if not name and not field then
        local first = team.first
        field = call('HGET', ROWS.queues[first].meta, QUEUE.name)
      end
      name = name or Usage.team_of(field)
      if name then table.insert(found, name) end
    end
  end
  return found
end

local function answer(token)
  local size, candidates = Candidates.next({
    teams = teams_to_ask(), queues = tonumber(ARGV.queuesToName), rotation = tonumber(ARGV.rotation),
    full_teams = full_teams, first = wanting, asked = teams, headroom = team_headroom, other_headroom = other_teams,
    held_teams = held_teams, held_count = held_count, held_queues = held_queues,
  })
  local due = call('ZRANGE', KEYS.nearSet, 0, 0, 'WITHSCORES')
  return {
    'ok', pad13(now), token, due[2] or '', size, candidates, jobs, names, settings, crowded_teams(),
    bytes_wanted > 0 and string.format('%.0f', bytes_wanted) or '', payloads,
  }
end

local last_token, last_ids = last_claim()
if last_token then
  local by_id = {}
  for index, id in ipairs(local_ids) do
    by_id[id] = {
      index = index, localId = id, meta = ROWS.queues[index].meta, records = ROWS.queues[index].records,
      payloads = ROWS.queues[index].payloads,
    }
  end
  for _, job in ipairs(still_held(by_id, last_token, last_ids)) do
    add_job(job.queue, job.id, job.body, payload_of(job.queue, job.id, job.body))
  end
  return answer(last_token)
end

local skipped_beyond, blocked = 0, 0

-- Skips the id of a cancelled job. Answers false when the queue has to wait for the next claim.
local function skip(queue)
  local cancelled = queue.cancelled or 0
  if cancelled >= SKIPPED_PER_QUEUE_MAX then
    if skipped_beyond >= SKIPPED_BEYOND_MAX then return false end
    skipped_beyond = skipped_beyond + 1
  end
  queue.cancelled = cancelled + 1
  return true
end

-- Answers at most `count` ids from the head of the ready list: those read as the queue was opened, if they are enough.
local function ids_from(queue, count)
  local head = queue.head
  queue.head = nil
  if not head or (#head < count and #head < queue.length) then
    return call('LRANGE', queue.ready, queue.consumed, queue.consumed + count - 1)
  end
  if #head <= count then return head end
  local ids = {}
  for i = 1, count do ids[i] = head[i] end
  return ids
end

-- Claims up to `count` jobs that exist and fit from the head of the queue's ready list; ids of cancelled jobs are
-- skipped.
local function take(queue, count)
  local got, page, deadlines = 0, count, queue.claimed
  local n = #deadlines
  while got < count and not queue.is_blocked do
    local ids = ids_from(queue, page)
    if #ids == 0 then break end
    local before, read = got, 0
    local bodies = call('HMGET', queue.records, unpack(ids))
    for i, id in ipairs(ids) do
      local body = bodies[i]
      if body then
        -- The length is checked first, so that a payload that does not fit is not read.
        local field = head_of(body).is_large and payload_field(id)
        local size = #body + (field and call('HSTRLEN', queue.payloads, field) or 0)
        if bytes + size > bytes_max then
          queue.is_blocked, blocked = true, blocked + 1
          if size > bytes_wanted then bytes_wanted, wanting = size, queue end
          break
        end
        local head = add_job(queue, id, body, field and call('HGET', queue.payloads, field) or '')
        deadlines[n + 1], deadlines[n + 2] = deadline_of(head, now), id
        n, got = n + 2, got + 1
      elseif not skip(queue) then
        queue.is_blocked = true
        break
      end
      read = read + 1
      if got == count then break end
    end
    queue.consumed = queue.consumed + read
    page = got > before and count - got or math.max(count - got, SKIP_PAGE)
  end
  local team = queue.team
  queue.free, queue.headroom = queue.free - got, queue.headroom - got
  if queue.flow then queue.allowed = queue.allowed - got end
  team.headroom, team.claimed = team.headroom - got, team.claimed + got
  claimed = claimed + got
end

-- Opens a queue. Its table is made with sixteen fields at once, for which Lua reserves exactly that room; fields that few
-- queues need are added later.
local function open(team, index)
  local meta, ready, in_flight = ROWS.queues[index].meta, ROWS.queues[index].ready, ROWS.queues[index].inFlight
  local live = call('HMGET', meta, QUEUE.active, QUEUE.maxParallel, QUEUE.name, QUEUE.cancelledReady, QUEUE.flow)
  -- Most queues that are opened have fewer jobs than they may start in one round, so the jobs say how many there are.
  local head = live[1] == '1' and call('LRANGE', ready, 0, quantum - 1) or {}
  local length = #head < quantum and #head or call('LLEN', ready)
  local id = local_ids[index]
  local queue = {
    index = index, localId = id, team = team, name = live[3], meta = meta, ready = ready, inFlight = in_flight,
    records = ROWS.queues[index].records, payloads = ROWS.queues[index].payloads, head = head, length = length,
    free = length, consumed = 0, claimed = {}, dealt = 0, headroom = queue_headroom[id] or other_queues,
  }
  if length > 0 and live[2] then
    queue.is_limited, queue.free = true, (tonumber(live[2]) or 1) - call('ZCARD', in_flight)
  end
  if length > 0 and live[5] then
    queue.flow = Flow.at(meta, live[5], now)
    queue.allowed = Flow.allowed(queue.flow, now, lead)
    queue.is_limited, queue.free = true, math.min(queue.free, queue.allowed)
  end
  -- Notes how many ids of cancelled jobs are counted in its ready list.
  if live[4] and live[4] ~= '0' then queue.counted = tonumber(live[4]) end
  opened[index], queues[#queues + 1] = queue, queue
  return queue
end

-- Answers how many jobs the queue could start, its limit allowing, beside the slots dealt to it.
local function startable(queue)
  return math.min(queue.free, queue.length - queue.consumed) - queue.dealt
end

-- Deals up to `most` slots to the team's queue with this index, and answers how many.
local function deal_to_queue(team, index, most)
  local queue = opened[index]
  if not queue then
    -- The queue is in the ring, so it has something to start and need not be opened to say that its team is crowded.
    if (queue_headroom[local_ids[index]] or other_queues) <= 0 then
      team.is_crowded = true
      return 0
    end
    queue = open(team, index)
  end
  if queue.is_blocked then return 0 end
  local headroom = queue.headroom - queue.dealt
  local given = math.min(most, startable(queue))
  if given > headroom then
    team.is_crowded = true
    given = headroom
  end
  if given <= 0 then return 0 end
  queue.dealt = queue.dealt + given
  return given
end

local function has_more(team)
  for index = team.first, team.last do
    if not opened[index] or startable(opened[index]) > 0 then return true end
  end
  return false
end

-- Deals up to `most` slots to a team's queues, beginning behind the queue that was served last.
local function deal_to_team(team, most)
  local headroom = team.headroom - team.dealt
  if headroom <= 0 then
    team.is_crowded = team.is_crowded or has_more(team)
    return 0
  end
  local count = math.min(most, headroom)
  local left = count
  for _ = team.first, team.last do
    left = left - deal_to_queue(team, team.next, left)
    team.next = team.next < team.last and team.next + 1 or team.first
    if left == 0 then break end
  end
  team.dealt = team.dealt + count - left
  return count - left
end

-- Deals `count` slots to the teams in rounds of one quantum each, so that one hot team still fills a batch. Queues are
-- opened only until the batch is full. Answers whether any slot was dealt.
local function deal(count)
  local dealt, progress = 0, true
  while progress and dealt < count do
    progress = false
    for _, team in ipairs(teams) do
      if dealt >= count then break end
      local given = deal_to_team(team, math.min(quantum, count - dealt))
      if given > 0 then dealt, progress = dealt + given, true end
    end
  end
  return dealt > 0
end

-- Ids of cancelled jobs and jobs that do not fit leave slots over, which are dealt again.
while claimed < jobs_max and blocked < BLOCKED_MAX and deal(jobs_max - claimed) do
  for _, queue in ipairs(queues) do
    if queue.dealt > 0 then
      take(queue, queue.dealt)
      queue.dealt = 0
    end
  end
  for _, team in ipairs(teams) do team.dealt = 0 end
end

-- Writes that cannot fail; the ready lists are cut last.
local token = ''
if claimed > 0 then
  token = new_token()
  for _, queue in ipairs(queues) do
    if #queue.claimed > 0 then
      call('ZADD', queue.inFlight, unpack(queue.claimed))
      if queue.flow then Flow.begin(queue.flow, begin_at, #queue.claimed / 2, queue.claimed[2]) end
      Usage.note(Usage.team_of(queue.name), 0, 0, #queue.claimed / 2)
    end
  end
  Usage.write(KEYS.teamUsage)
  hold(queues, token)
end
local leaving, emptied = {}, {}
for _, queue in ipairs(queues) do
  if queue.consumed > 0 then
    local cancelled, is_emptied = queue.cancelled or 0, queue.consumed >= queue.length
    local charge = #queue.claimed / 2 + math.floor(cancelled / SKIPPED_PER_JOB)
    queue.team.charge = queue.team.charge + charge
    if not is_emptied and (not queue.is_limited or queue.free > 0) then
      call('ZINCRBY', KEYS.ring, charge, queue.localId)
    else
      leaving[#leaving + 1] = queue.localId
    end
    if cancelled > 0 or queue.counted then uncount_cancelled(queue.meta, cancelled, is_emptied) end
  end
end
if #leaving > 0 then call('ZREM', KEYS.ring, unpack(leaving)) end
for _, queue in ipairs(queues) do
  if queue.flow then
    -- What is left of the count decides, as it has decided who leaves the ring: computed anew it may be one more.
    if queue.consumed < queue.length and queue.allowed < 1 then
      Flow.throttle(queue.flow, now, queue.localId)
    elseif #queue.claimed > 0 then
      Flow.save(queue.flow)
    end
  end
end
for _, queue in ipairs(queues) do
  if queue.consumed >= queue.length and queue.consumed > 0 then
    emptied[#emptied + 1] = queue.ready
  elseif queue.consumed > 0 then
    call('LTRIM', queue.ready, queue.consumed, -1)
  end
end
if #emptied > 0 then call('DEL', unpack(emptied)) end
-- This is noted even for a team that was asked alone: one that comes and goes must not find the other where it left it.
for _, team in ipairs(teams) do
  if team.charge > 0 then call('ZINCRBY', KEYS.teams, team.charge, team.number) end
end
return answer(token)
