#!lua flags=allow-oom
-- finish: ends a batch of jobs in flight. Frees slots, wakes queues, writes summaries and call records, makes the
-- retry, the dead letter, the callback and the alerts. A job whose token is not held is stale and changes nothing. A job whose
-- record is damaged is quarantined. A job that cannot be ended because something of its queue is damaged stays held.
-- Answer {now, woken, call records dropped, codes, {local id of a queue whose history has grown…}, raised alerts, {what was
--       thrown…} or nothing}; codes has one letter a job: d done · s stale · a quarantined · x it threw and is still held; '' when a
--       team's callback queue has another number by now and nothing was done. The same finish id gives the same codes
--       again. Raised alerts: 'type kind count …'.
-- Transitions: processing → completed | failed (with retry, dead letter, callback) | quarantined | pending (released; a
--       suspect waits among the suspects again).
--#include base/lib/clock
--#include jobs/execute/finish/guarded
--#include base/ring/bands
--#include base/ring/ring
--#include base/ring/mark
--#include base/ring/flow
--#include base/ring/breaker
--#include base/ring/throttle
--#include base/lib/usage
--#include base/lib/record
--#include ledger/retention/release_settings
--#include base/lib/suspects
--#include jobs/execute/finish/settle
--#include base/lib/cron
--#include ledger/alerts/alerts
--#include ledger/issues/issues
--#include jobs/execute/finish/failures
--#include jobs/execute/finish/runs
--#include jobs/execute/finish/end_log
--#include jobs/execute/finish/batch

local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))

local last_id, last_codes = string.match(call('HGET', KEYS.heldJobs, HELD.lastFinish) or '', '^(%S+) (%a+)$')
if last_id == ARGV.finishId then return { pad13(now), 0, 0, last_codes, {}, '' } end

local batch = open_batch(now)
if not batch then return { pad13(now), 0, 0, '', {}, '' } end
local holders, codes, held, seen = call('HMGET', KEYS.heldJobs, unpack(ids)), {}, {}, {}

-- Tells whether the executor holds all jobs of a plain place.
local function are_held(place)
  if place.queue.is_failed then return false end
  local holder = place.queue.localId .. '|' .. place.stretch.token
  for i = place.before + 1, place.last do
    if holders[i] ~= holder then return false end
  end
  return true
end
local function look_at(job)
  local queue, position = job.queue, job.position
  -- The jobs of a batch were most often claimed together.
  if queue.token ~= job.token then queue.token, queue.holder = job.token, queue.localId .. '|' .. job.token end
  local is_held = holders[position] == queue.holder and not seen[job.id]
  codes[position] = is_held and 'd' or 's'
  if is_held then
    seen[job.id] = true
    held[#held + 1] = job
  end
end
for _, row in ipairs(rows) do
  if not row.last then
    look_at(row)
  elseif are_held(row) then
    held[#held + 1] = row
    for i = row.before + 1, row.last do codes[i] = 'd' end
  else
    for _, job in ipairs(as_jobs(row)) do look_at(job) end
  end
end
if #held == 0 then return { pad13(now), 0, 0, table.concat(codes), {}, '', faults } end

for _, row in ipairs(held) do
  if row.last then
    end_plainly(batch, row)
  elseif end_job(batch, row) and row.is_quarantined then
    codes[row.position] = 'a'
  end
end
local function note_codes()
  call('HSET', KEYS.heldJobs, HELD.lastFinish, ARGV.finishId .. ' ' .. table.concat(codes))
end
note_codes()
local grown, raised = close_batch(batch, held)
if batch.has_failed then
  for _, row in ipairs(held) do
    if row.queue.is_failed or row.is_failed then
      for i = row.before and row.before + 1 or row.position, row.last or row.position do codes[i] = 'x' end
    end
  end
  note_codes()
end
return { pad13(now), batch.woken, batch.calls_dropped, table.concat(codes), grown, raised, faults }
