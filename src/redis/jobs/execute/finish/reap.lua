#!lua flags=allow-oom
-- reap: takes jobs from an executor that cannot end them. They keep their attempt and go back to the head of the ready
-- list; one that was lost with its executor, now or before, waits as a suspect and keeps its slot. The loss that is one
-- too many fails the attempt as `executor_lost`, as the caller prepared it. A job whose record is damaged is
-- quarantined.
-- mode: 'lease' the executor's lease is past by `marginMs` · 'deadline' each job's hard deadline is past (`marginMs`: how
--       long deadlines rest after a jump of the clock) · 'unknown' the executor says that it does not know these jobs ·
--       'leave' it ends and releases all its jobs. The last two count no loss.
-- A job of kind `released` or `quarantined` is that, any other kind is the prepared failure of the last loss. Where the
-- value in `heldJobs` is damaged, it stands in place of the token.
-- Answer {'live'} when the lease is not past or deadlines rest · {'moved'} when a team's callback queue has another
--       number by now · else {'ok', now, woken, codes, {local id of a queue whose history has grown…}, raised alerts, {what
--       was thrown…} or nothing}; codes has one letter a job: b released · f failed · a quarantined · n freed · p needs a prepared
--       failure · s is not so any more · x it threw and is still held. An executor that holds nothing more after a 'lease'
--       or 'leave' reap is removed.
-- Transitions: processing → pending (ready or suspect) | failed | quarantined.
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

local mode, margin = ARGV.mode, tonumber(ARGV.marginMs)
local now = shard_now(KEYS.clock, KEYS.executors, tonumber(ARGV.leaseMs))
if mode == 'lease' then
  local lease = call('ZSCORE', KEYS.executors, ARGV.executor)
  if lease and tonumber(lease) + margin > now then return { 'live' } end
end

-- Deadlines set before a jump forward are past at once, though their calls still run. None is judged until the longest
-- of them must be over.
if mode == 'deadline' then
  local jumped = tonumber(call('HGET', KEYS.clock, CLOCK.jumpedAt) or '')
  if jumped and now < jumped + margin then return { 'live' } end
end

local batch = open_batch(now)
if not batch then return { 'moved' } end

local function judge(job)
  local queue = job.queue
  local holder = call('HGET', KEYS.heldJobs, job.id)
  local is_damaged = holder == job.token
  if holder ~= queue.localId .. '|' .. job.token and not is_damaged then return 's' end
  local deadline = call('ZSCORE', queue.inFlight, job.id)
  if mode == 'deadline' and deadline and tonumber(deadline) > now then return 's' end
  if not deadline then
    job.kind = END.freed
    return 'n'
  end
  local body = call('HGET', queue.records, job.id)
  if job.kind == END.quarantined or not body or not Record.is_sound(body) then
    job.kind = END.quarantined
    return 'a'
  end
  if mode == 'unknown' or mode == 'leave' then
    job.kind = END.released
    -- An executor that leaves may have begun the calls of its jobs.
    if mode == 'leave' then job.record = 'cut' end
    return 'b'
  end
  local losses = tonumber(string.sub(body, 15, 15)) + 1
  if losses >= tonumber(ARGV.lossesMax) then return job.kind == END.released and 'p' or 'f' end
  job.kind = END.released
  job.body = string.sub(body, 1, 14) .. losses .. string.sub(body, 16)
  return 'b'
end

local jobs, codes, seen = {}, {}, {}
for i, job in ipairs(rows) do
  local ok, code = true, 's'
  if not seen[job.id] then ok, code = guarded(job.id, judge, job) end
  codes[i] = ok and not job.queue.is_failed and code or 'x'
  if codes[i] ~= 's' and codes[i] ~= 'p' and codes[i] ~= 'x' then
    seen[job.id] = true
    table.insert(jobs, job)
  end
end

for _, job in ipairs(jobs) do
  if job.body then call('HSET', job.queue.records, job.id, job.body) end
  end_job(batch, job)
end
local grown, raised = close_batch(batch, jobs)
if batch.has_failed then
  for _, job in ipairs(jobs) do
    if job.queue.is_failed or job.is_failed then codes[job.position] = 'x' end
  end
end
if mode == 'lease' or mode == 'leave' then
  local notes = call('HEXISTS', KEYS.heldJobs, HELD.lastClaim) + call('HEXISTS', KEYS.heldJobs, HELD.lastFinish)
  if call('HLEN', KEYS.heldJobs) <= notes then
    call('DEL', KEYS.heldJobs)
    call('ZREM', KEYS.executors, ARGV.executor)
  end
end
return { 'ok', pad13(now), batch.woken, table.concat(codes), grown, raised, faults }
