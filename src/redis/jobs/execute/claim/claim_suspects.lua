#!lua flags=allow-oom
-- claim_suspects: gives an executor suspects, in the order in which they wait; they have their slots already. The suspects
-- that it has at once are of one cohort: jobs with one loss, of any team; or a few with two losses, of one team; or a
-- single one with more. The first in line decides which, unless the executor has some. A suspect whose queue is paused,
-- or is at its limit or throttled by now, moves to the end; a member that is no suspect any more is dropped. The same request id gives
-- the same batch.
-- `losses` and `team` describe the suspects that the executor has, '' = it has none. At most `cohortMax` jobs with two
-- losses are given. Jobs of queues with a rate may begin `leadMs` from now on.
-- Answer {'lost'} when the lease is gone, else
--       {'ok', now, token, '', suspects that still wait, {}, {queue index, count, {id, record} of each…},
--        {queue index, team/name and the marks of its flow…}, {settings hash, json…}, {}, bytes of the one that did not fit or '',
--        {position of a job, payload…}, losses, team}
-- Transition: pending (suspect) → processing.
--#include base/lib/clock
--#include base/lib/usage
--#include base/lib/record
--#include base/lib/suspects
--#include base/ring/mark
--#include base/ring/flow
--#include jobs/execute/claim/handout

local jobs_max, bytes_max = tonumber(ARGV.jobsMax), tonumber(ARGV.bytesMax)
local cohort_max = tonumber(ARGV.cohortMax)
local cohort = { losses = tonumber(ARGV.losses), team = ARGV.team }

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
begin_at = now + lead
local lease = call('ZSCORE', KEYS.executors, ARGV.executor)
if not lease or tonumber(lease) <= now then return { 'lost' } end

local by_id, bytes_wanted = {}, ''
local queues = ROWS.queues
local suspects = ROWS.suspects
for i, queue in ipairs(queues) do
  local live = call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.name, QUEUE.flow)
  local max = live[2] and (tonumber(live[2]) or 1)
  queue.index, queue.claimed, queue.name = i, {}, live[3]
  queue.free = live[1] ~= '1' and 0
    or max and max - call('ZCOUNT', queue.inFlight, '-inf', '(' .. SUSPECT_WAITS) or #suspects
  if live[4] then
    queue.flow = Flow.at(queue.meta, live[4], now)
    queue.free = math.min(queue.free, Flow.allowed(queue.flow, now, lead))
  end
  by_id[queue.localId] = queue
end

local function answer(token)
  return {
    'ok', pad13(now), token, '', call('ZCARD', KEYS.suspects), {}, jobs, names, settings, {}, bytes_wanted, payloads,
    cohort.losses and string.format('%.0f', cohort.losses) or '', cohort.team,
  }
end

-- The holder of a job is written first. Its slot and its place among the suspects follow here if they did not before.
local last_token, last_ids = last_claim()
if last_token then
  for _, job in ipairs(still_held(by_id, last_token, last_ids)) do
    local queue = job.queue
    cohort = { losses = Record.losses(job.body), team = Usage.team_of(queue.name) or '' }
    add_job(queue, job.id, job.body, payload_of(queue, job.id, job.body))
    call('ZADD', queue.inFlight, deadline_of(head_of(job.body), now), job.id)
    call('ZREM', KEYS.suspects, queue.localId .. '|' .. job.id)
  end
  return answer(last_token)
end

local handled, postponed, claimed = {}, {}, 0

-- Takes one suspect if it may run. Answers false when those behind it have to wait.
local function take(queue, id)
  local member = queue.localId .. '|' .. id
  if not call('ZSCORE', KEYS.suspects, member) then return true end
  if not is_waiting(call('ZSCORE', queue.inFlight, id)) then
    table.insert(handled, member)
    return true
  end
  if queue.free <= 0 then
    table.insert(postponed, member)
    return true
  end
  -- A suspect without a record is quarantined like a damaged one.
  local body = call('HGET', queue.records, id) or ''
  local losses, team = Record.losses(body), Usage.team_of(queue.name) or ''
  if not cohort.losses then cohort = { losses = losses, team = team } end
  local belongs = math.min(losses, 3) == math.min(cohort.losses, 3) and (losses == 1 or team == cohort.team)
  local limit = losses == 1 and jobs_max or math.min(jobs_max, losses == 2 and cohort_max or 1)
  if not belongs or claimed >= limit then return false end
  local payload = payload_of(queue, id, body)
  if bytes + #body + #payload > bytes_max then
    bytes_wanted = string.format('%.0f', #body + #payload)
    return false
  end
  table.insert(queue.claimed, deadline_of(add_job(queue, id, body, payload), now))
  table.insert(queue.claimed, id)
  table.insert(handled, member)
  queue.free, claimed = queue.free - 1, claimed + 1
  return true
end
for _, suspect in ipairs(suspects) do
  if not take(by_id[suspect.localId], suspect.jobId) then break end
end

-- Writes that cannot fail; the suspects leave their line last.
local token = ''
if claimed > 0 then
  token = new_token()
  hold(queues, token)
  for _, queue in ipairs(queues) do
    if #queue.claimed > 0 then
      call('ZADD', queue.inFlight, unpack(queue.claimed))
      -- An ordinary claim takes the queue out of the ring, if need be.
      if queue.flow then
        Flow.begin(queue.flow, begin_at, #queue.claimed / 2, queue.claimed[2])
        Flow.save(queue.flow)
      end
    end
  end
end
for _, member in ipairs(postponed) do call('ZADD', KEYS.suspects, now, member) end
for _, member in ipairs(handled) do call('ZREM', KEYS.suspects, member) end
return answer(token)
