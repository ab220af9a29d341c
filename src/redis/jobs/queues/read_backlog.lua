#!lua flags=no-writes
-- read_backlog: counts what the executors of a shard have to do: what is ready in queues of the ring, by team, which suspects
-- wait, and what is due soon. A team's row names a sample of its queues, which stands for all its queues in the ring. Jobs
-- that a queue's limit or rate holds back are ready but cannot start. A suspect has its slot, so it is counted by its own row.
-- Due soon are delayed jobs, retries, ticks of crons, notifications and bulks.
-- The entries of a minute have no order, so a minute counts as a whole, and as due at its start.
-- Answer {now, queues in the ring, due soon, next due or '', {jobs held by each executor…},
--       {team, or '' for queues of several teams, ready, may start, oldest due or ''} of each team…,
--       the same of each queue with suspects…}
local call = redis.call
--#include base/engine/engine_time
--#include base/lib/record
--#include base/lib/suspects
--#include base/ring/mark
--#include base/ring/flow
--#include jobs/queues/queue_counts

local now = engine_time(KEYS.clock)
local horizon = now + tonumber(ARGV.horizonMs)

local function text(ms) return ms and string.format('%.0f', ms) or '' end

local due_soon = call('ZCOUNT', KEYS.nearSet, '-inf', text(horizon))
local head, first = call('ZRANGE', KEYS.nearSet, 0, 0, 'WITHSCORES'), call('ZRANGE', KEYS.minutes, 0, 0)
local next_due, minute = tonumber(head[2] or ''), tonumber(first[1] or '')
if minute and (not next_due or minute * 60000 < next_due) then next_due = minute * 60000 end
for _, key in ipairs({ KEYS.cronsDue, KEYS.notices, KEYS.bulksDue }) do
  local due = tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or '')
  if due and due <= horizon then due_soon = due_soon + call('ZCOUNT', key, '-inf', text(horizon)) end
  if due and (not next_due or due < next_due) then next_due = due end
end
local buckets = ROWS.buckets
for _, bucket in ipairs(buckets) do
  if tonumber(bucket.minute) * 60000 <= horizon then due_soon = due_soon + call('LLEN', bucket.entries) end
end

local held = {}
local executors = ROWS.executors
for i, executor in ipairs(executors) do
  held[i] = call('HLEN', executor.heldJobs) - call('HEXISTS', executor.heldJobs, HELD.lastClaim)
    - call('HEXISTS', executor.heldJobs, HELD.lastFinish)
end

-- Reads a queue with its team, its counts and its limit; nil = it has none.
local function read_queue(queue)
  local live = call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.cancelledReady, QUEUE.name,
    QUEUE.flow)
  local name = live[4] or ''
  queue.team = string.sub(name, 1, (string.find(name, '/', 1, true) or 1) - 1)
  queue.is_active, queue.limit = live[1] == '1', live[2] and (tonumber(live[2]) or 1)
  queue.counts = queue_counts(queue, live[3])
  local flow = live[5] and Flow.at(queue.meta, live[5], now)
  queue.allowed, queue.has_rate = flow and Flow.allowed(flow, now), flow and flow.rate
end

local function within(limit, taken, jobs)
  return limit and math.max(0, math.min(jobs, limit - taken)) or jobs
end

local function add_queue(sums, queue, weight)
  read_queue(queue)
  sums.team = (not sums.team or sums.team == queue.team) and queue.team or ''
  local counts = queue.counts
  if not queue.is_active or counts.in_line == 0 then return end
  local startable = within(queue.allowed, 0, within(queue.limit, counts.slots, counts.in_line))
  sums.jobs, sums.startable = sums.jobs + counts.in_line * weight, sums.startable + startable * weight
  -- Jobs that keep to a rate are old by intention: another executor would not make them begin sooner.
  local due = not queue.has_rate and tonumber(oldest_in_line(queue, counts) or '')
  if due and (not sums.oldest or due < sums.oldest) then sums.oldest = due end
end

local samples = ROWS.samples
local queues = ROWS.queues
local suspect_queues = ROWS.suspectQueues
local teams, at = {}, 0
for i, sample in ipairs(samples) do
  local sums = { jobs = 0, startable = 0 }
  local named = tonumber(sample.named)
  for _ = 1, named do
    at = at + 1
    add_queue(sums, queues[at], math.max(1, sample.inRing / named))
  end
  teams[i] = { sums.team or '', text(sums.jobs), text(sums.startable), text(sums.oldest) }
end

local suspects = {}
for i, queue in ipairs(suspect_queues) do
  read_queue(queue)
  local counts = queue.counts
  local waiting = queue.is_active and counts.waiting or 0
  local due = waiting > 0 and oldest_waiting(queue, counts) or ''
  suspects[i] = { queue.team, text(waiting), text(within(queue.allowed, 0, within(queue.limit, counts.in_flight, waiting))), due }
end

return { text(now), call('ZCARD', KEYS.ring), due_soon, text(next_due), held, teams, suspects }
