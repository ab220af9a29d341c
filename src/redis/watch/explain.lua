#!lua flags=no-writes
-- explain: reads what a pending job waits for. Ready jobs before it are counted up to `countedMax`; how many are before
-- it further back is found by their due times, as the ready list is in this order but for what was given back.
-- Answer {now, due or '', score in flight or '', active, limit or '', slots taken by others, executors with a lease,
--       jobs before it or '', 1 when these were counted, flow state or '', when the rate lets the next job begin or '', ms from
--       one to the next}
local call = redis.call
--#include base/engine/engine_time
--#include base/lib/record
--#include base/lib/suspects
--#include base/ring/mark
--#include base/ring/flow
--#include jobs/queues/queue_counts

-- Finding a job in the ready list passes over at most this many ids of cancelled jobs.
local SKIPPED_MAX = 16

local now = engine_time(KEYS.clock)
local body = call('HGET', KEYS.records, ARGV.jobId)
local due = body and Record.due(body) or ''
local score = call('ZSCORE', KEYS.inFlight, ARGV.jobId)
local live = call('HMGET', KEYS.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.cancelledReady, QUEUE.flow, QUEUE.flowState)
local counts = queue_counts({ ready = KEYS.ready, records = KEYS.records, inFlight = KEYS.inFlight }, live[3])
-- A suspect has a slot already; what it waits for are calls.
local taken = is_waiting(score) and counts.in_flight or counts.slots
local executors = call('ZCOUNT', KEYS.executors, '(' .. string.format('%.0f', now), '+inf')

-- Answers the due time of the job at this place of the ready list, or of the next that is not cancelled.
local function due_at(place)
  for i = place, place + SKIPPED_MAX - 1 do
    local id = call('LINDEX', KEYS.ready, i)
    if not id then return nil end
    local other = call('HGET', KEYS.records, id)
    local other_due = other and Record.due(other)
    if other_due then return other_due end
  end
  return nil
end

-- Answers how many jobs from `low` on are due before this one.
local function search(low, high)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other = due_at(middle)
    if other and other < due then low = middle + 1 else high = middle end
  end
  return low
end

local function position()
  if is_waiting(score) then
    return call('ZRANK', KEYS.suspects, ARGV.localId .. '|' .. ARGV.jobId) or 0, 1
  end
  local cancelled = tonumber(live[3] or '') or 0
  local counted = call('LPOS', KEYS.ready, ARGV.jobId, 'MAXLEN', ARGV.countedMax)
  if counted then return counted, cancelled == 0 and 1 or 0 end
  local listed = call('LLEN', KEYS.ready)
  return search(math.min(listed, tonumber(ARGV.countedMax)), listed), 0
end

local before, is_exact = '', 0
if due ~= '' and tonumber(due) <= now then before, is_exact = position() end
local next_begin, interval = '', ''
if live[4] then
  local flow = Flow.at(KEYS.meta, live[4], now)
  if flow.rate then next_begin, interval = string.format('%.3f', flow.next_begin), string.format('%.3f', flow.rate.interval) end
end
return {
  string.format('%.0f', now), due, score or '', live[1] or '', live[2] or '', taken, executors, before, is_exact,
  live[5] or '', next_begin, interval,
}
