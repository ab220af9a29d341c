-- Shared by finish and reap: ends a batch of jobs. Declares `job_rows`, `open_batch`, `end_job` and `close_batch`. Wants
-- `Alerts`, `EndLog`, `Runs`, `Settle` and `Usage`.
--
-- A job has three words, and what it shares with those around it stands once, in its stretch: batch-job.ts. `facts` of
-- most jobs are their bytes, or ''; such a job has no fields for what it lacks, so that its table is half as large. Else
-- they are bytes '|' delay '|' large '|' failure '|' length of the call '|' call callback
-- ARGV.places: for jobs of one queue that follow each other 'queue count;', queue: its position among the plain queues
--       and the others after them. Plain queues lack the keys that their jobs do not need.
-- ARGV.runs: for each run that ends with its job 'position cron record team reason host', and a line break · position: of
--       the job · record: as it stands among the cron's · team: position among the alert teams · reason, host: of a
--       failure, else '' and '""'

local minute_rows = ROWS.minutes
local callback_queues = ROWS.callbackQueues
local queue_rows = ROWS.plainQueues
local full_rows = ROWS.queues
local run_lists = ROWS.runLists
local stretch_rows = ROWS.stretches
local alert_teams = ROWS.alertTeams
local alert_rows = ROWS.alerts

local function read_facts(job, facts)
  local bytes, delay, large, failure, length = string.match(facts, '^(%d*)|(%d+)|(%d)|([^|]*)|(%d+)|')
  job.bytes, job.delay, job.is_large = tonumber(bytes), tonumber(delay), large == '1'
  if failure ~= '' then job.failure = failure end
  local at = #bytes + #delay + #large + #failure + #length + 6
  local call_end = at + tonumber(length)
  if call_end > at then job.call = string.sub(facts, at, call_end - 1) end
  if call_end <= #facts then job.callback = string.sub(facts, call_end) end
end

local function read_jobs()
  for _, queue in ipairs(full_rows) do queue_rows[#queue_rows + 1] = queue end
  local found, at, left, stretch = {}, 0, 0, nil
  for place, count in string.gmatch(ARGV.places, '(%d+) (%d+);') do
    local queue = queue_rows[tonumber(place)]
    for _ = 1, tonumber(count) do
      if left == 0 then
        at = at + 1
        stretch = stretch_rows[at]
        left = tonumber(stretch.count)
      end
      left = left - 1
      local facts = ARGV[arg_at + 3]
      local job = {
        id = ARGV[arg_at + 1], record = ARGV[arg_at + 2], position = #found + 1, bytes = tonumber(facts), kind = stretch.kind,
        queue = queue, token = stretch.token, settingsHash = stretch.settingsHash,
      }
      arg_at = arg_at + 3
      if not job.bytes and facts ~= '' then read_facts(job, facts) end
      found[#found + 1] = job
    end
  end
  return found
end
local job_rows = read_jobs()

-- Answers nil when a team's callback queue has another number than the caller knows: a Redis that lost its last writes
-- may have given the number to another team.
local function open_batch(now)
  for _, queue in ipairs(callback_queues) do
    if (call('HGET', KEYS.teamNumbers, queue.team) or '0') ~= queue.teamNumber then return nil end
  end
  use_ring(KEYS.ring, KEYS.teams)
  local batch = {
    now = now, minutes = {}, callback_queues = {}, ended_runs = {}, freed = {},
    settings_released = {}, calls_dropped = 0, woken = 0,
    call_bytes = tonumber(call('HGET', KEYS.shardUsage, SHARD_USAGE.callBytes) or '') or 0,
  }
  batch.call_bytes_before = batch.call_bytes
  for _, row in ipairs(minute_rows) do batch.minutes[tonumber(row.minute)] = row.bucket end
  for _, queue in ipairs(callback_queues) do batch.callback_queues[queue.localId] = queue end
  -- By their positions: an id may stand twice in a batch, once stale.
  local lists = 0
  for position, cron, record, tick, team, reason, host in
    string.gmatch(ARGV.runs, '(%d+) (%d+) (%a|(%d+)|%d+) (%d+) (%S*) (%S*)\n')
  do
    lists = lists + 1
    job_rows[tonumber(position)].run = {
      cronId = cron, record = record, tick = tick, team = alert_teams[tonumber(team)], reason = reason, host = host,
      cronRecords = run_lists[lists].cronRecords,
    }
  end
  for _, alert in ipairs(alert_rows) do
    local job = job_rows[tonumber(alert.position)]
    if not job.alerts then job.alerts = {} end
    job.alerts[#job.alerts + 1] = alert
  end
  for _, queue in ipairs(queue_rows) do
    local live = call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.cronId, QUEUE.name, QUEUE.teamNumber)
    queue.live, queue.cron, queue.name, queue.team_number = live, live[3], live[4], live[5]
    -- A queue that was deleted frees and creates nothing.
    queue.exists = live[1]
    queue.is_of_callbacks = not queue.cron and string.sub(queue.name or '', -1) == '/'
    queue.freed, queue.dropped, queue.ended, queue.ended_summaries, queue.ended_payloads = {}, {}, {}, {}, {}
    queue.end_log = {}
    queue.bytes, queue.jobs = 0, 0
  end
  return batch
end

-- Notes why a chain failed for good, which stands in the hash of its queue, and what the end of a job raises for its queue.
-- A damaged job raises nothing: what its queue wants is unknown.
local function note_failure(queue, job)
  if job.is_quarantined or job.kind == END.released then return end
  if job.failure and not queue.cron then queue.failure_reason = job.failure end
  if not job.alerts then return end
  for _, alert in ipairs(job.alerts) do
    Alerts.raise(alert_teams[tonumber(alert.teamPosition)], {
      type = alert.type, reason = alert.reason, kind = 'queue', resource = alert.queueId,
      suppressed = alert.suppressedBy, job = job.id, facts = alert.facts,
    })
  end
end

-- Answers whether the job was quarantined because its record is damaged.
local function end_job(batch, job)
  local queue = job.queue
  -- By index: table.insert takes twice as long, and this is done for each job.
  batch.freed[#batch.freed + 1] = job.id
  if job.kind == END.freed then return end
  if not queue.exists then
    table.insert(queue.freed, job.id)
    return
  end
  if job.run then Runs.note_end(batch.ended_runs, job.run, job) end
  Settle.settle(batch, queue, job)
  note_failure(queue, job)
  EndLog.add_end(queue, job)
  -- A suspect keeps its slot.
  if job.is_suspect then return end
  queue.freed[#queue.freed + 1] = job.id
  if job.kind == END.released then
    queue.has_released = true
  else
    queue.dropped[#queue.dropped + 1] = job.id
  end
  return job.is_quarantined
end

-- Whether a history of this length needs somebody to look after it: that of a cron is too long, that of a queue has
-- chains for another block.
local function has_grown(queue, length)
  if queue.cron then return length > tonumber(ARGV.trimHiddenAbove) end
  return math.floor(length / 256) > math.floor((length - #queue.ended) / 256)
end

-- Frees slots, holders and records, wakes queues, and raises alerts. Answers the queues whose history has grown, and what
-- was raised.
local function close_batch(batch)
  local grown = {}
  for _, queue in ipairs(queue_rows) do
    if #queue.freed > 0 then
      local length = #queue.ended > 0 and Settle.write_finished(batch, queue) or 0
      call('ZREM', queue.inFlight, unpack(queue.freed))
      if #queue.dropped > 0 then call('HDEL', queue.records, unpack(queue.dropped)) end
      if queue.failure_reason then
        call('HSET', queue.meta, QUEUE.lastFailure, pad13(batch.now) .. '|' .. queue.failure_reason)
      end
      -- A queue without a limit becomes runnable only by a released job.
      if queue.exists and (queue.live[2] or queue.has_released) then
        batch.woken = batch.woken + wake(queue.localId, queue.team_number, queue.live, queue.ready, queue.inFlight)
      end
      if #queue.ended > 0 and has_grown(queue, length) then table.insert(grown, queue.localId) end
      if queue.exists then Usage.note(Usage.team_of(queue.name), queue.bytes, queue.jobs, -#queue.freed) end
    end
  end
  for hash, count in pairs(batch.settings_released) do release_settings(hash, count) end
  if batch.call_bytes ~= batch.call_bytes_before then
    call('HSET', KEYS.shardUsage, SHARD_USAGE.callBytes, string.format('%.0f', batch.call_bytes))
  end
  Usage.write(KEYS.teamUsage)
  EndLog.push(queue_rows, batch.now)
  Runs.end_runs(KEYS.cronStates, batch.ended_runs)
  if #batch.freed > 0 then call('HDEL', KEYS.heldJobs, unpack(batch.freed)) end
  return grown, Alerts.store(batch.now)
end
