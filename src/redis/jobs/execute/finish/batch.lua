-- Shared by finish and reap: ends a batch of jobs. Declares `ids`, `rows`, `open_batch`, `end_plainly`, `as_jobs`,
-- `end_job` and `close_batch`. Wants `Alerts`, `EndLog`, `Failures`, `Flow`, `Issues`, `Runs`, `Settle`, `Usage` and `guarded`.
--
-- What throws stops nothing but itself: a job that cannot be ended stays held, and so do the jobs of a queue that cannot be
-- written; a run, a team's alerts or a counter that cannot be written are left out.
--
-- What a job shares with those around it stands once, in its stretch: batch-job.ts. Most jobs end plainly: a first attempt
-- succeeded and leaves nothing but a summary. Plain jobs of one queue and stretch that follow each other are a plain
-- place. They have two words each, id and record, and no tables, which were a quarter of the cost of a finish. The others
-- have three words; the third is their facts: their bytes, or '' where the step has to ask, or
--       bytes '|' delay '|' large '|' failure '|' target '|' length of the call '|' call callback · target: what the end says
--       of it, b it does not work, g it does, nothing where nobody knows; and for how many ms it asks to be left alone, or ''
-- ARGV.places: for jobs of one queue that follow each other 'queue count growth;', queue: its position among the lean
--       queues and the others after them, growth: of a plain place, by how many bytes its summaries are longer than its
--       records, else ''. Lean queues lack the keys that their jobs do not need.
-- ARGV.runs: for each run that ends with its job 'position cron record team reason host', and a line break · position: of
--       the job · record: as it stands among the cron's · team: position among the alert teams · reason, host: of a
--       failure, else '' and '""'

local minute_rows = ROWS.minutes
local callback_queues = ROWS.callbackQueues
local queue_rows = ROWS.leanQueues
local full_rows = ROWS.queues
local run_lists = ROWS.runLists
local stretch_rows = ROWS.stretches
local alert_teams = ROWS.alertTeams
local alert_rows = ROWS.alerts

local function read_facts(job, facts)
  local bytes, delay, large, failure, says, asked, length =
    string.match(facts, '^(%d*)|(%d+)|(%d)|([^|]*)|(%a?)(%d*)|(%d+)|')
  job.bytes, job.delay, job.is_large = tonumber(bytes), tonumber(delay), large == '1'
  if failure ~= '' then job.failure = failure end
  job.says, job.asked = says ~= '' and says or nil, tonumber(asked)
  local at = #bytes + #delay + #large + #failure + #says + #asked + #length + 7
  local call_end = at + tonumber(length)
  if call_end > at then job.call = string.sub(facts, at, call_end - 1) end
  if call_end <= #facts then job.callback = string.sub(facts, call_end) end
end

-- `ids` has the ids of all jobs by position. `rows` has, in order, a row for each plain place (its jobs are at the positions
-- `before` + 1 to `last`) and for each other job.
local ids, rows = {}, {}
local function read_rows()
  for _, queue in ipairs(full_rows) do queue_rows[#queue_rows + 1] = queue end
  local position, at, left, stretch = 0, 0, 0, nil
  -- Answers the stretch that the next `count` jobs belong to.
  local function stretch_of_next(count)
    if left == 0 then
      at = at + 1
      stretch = stretch_rows[at]
      left = tonumber(stretch.count)
    end
    left = left - count
    return stretch
  end
  local function read_plain(queue, count, growth)
    rows[#rows + 1] = {
      queue = queue, stretch = stretch_of_next(count), before = position, last = position + count, growth = growth,
      words_before = arg_at,
    }
    for i = 1, count do ids[position + i] = ARGV[arg_at + i * 2 - 1] end
    arg_at, position = arg_at + count * 2, position + count
  end
  local function read_job(queue)
    local of, id, facts = stretch_of_next(1), ARGV[arg_at + 1], ARGV[arg_at + 3]
    position = position + 1
    local job = {
      id = id, record = ARGV[arg_at + 2], position = position, bytes = tonumber(facts), kind = of.kind, queue = queue,
      token = of.token, settingsHash = of.settingsHash,
    }
    if not job.bytes and facts ~= '' then read_facts(job, facts) end
    ids[position], rows[#rows + 1] = id, job
    arg_at = arg_at + 3
  end
  for place, count, growth in string.gmatch(ARGV.places, '(%d+) (%d+) (%-?%d*);') do
    local queue = queue_rows[tonumber(place)]
    if growth ~= '' then
      read_plain(queue, tonumber(count), tonumber(growth))
    else
      for _ = 1, tonumber(count) do read_job(queue) end
    end
  end
end
read_rows()

-- Makes the jobs of a plain place one by one, for when not all of them are held.
local function as_jobs(place)
  local found, stretch = {}, place.stretch
  for i = 1, place.last - place.before do
    found[i] = {
      id = ids[place.before + i], record = ARGV[place.words_before + i * 2], position = place.before + i,
      kind = stretch.kind, queue = place.queue, token = stretch.token, settingsHash = stretch.settingsHash,
    }
  end
  return found
end

-- These are kept by the positions of jobs, as an id may stand twice in a batch, once stale.
local runs, alerts_of = {}, {}
local function read_runs_and_alerts()
  local lists = 0
  for position, cron, record, tick, team, reason, host in
    string.gmatch(ARGV.runs, '(%d+) (%d+) (%a|(%d+)|%d+) (%d+) (%S*) (%S*)\n')
  do
    lists = lists + 1
    runs[tonumber(position)] = {
      cronId = cron, record = record, tick = tick, team = alert_teams[tonumber(team)], reason = reason, host = host,
      cronRecords = run_lists[lists].cronRecords,
    }
  end
  for _, alert in ipairs(alert_rows) do
    local position = tonumber(alert.position)
    alerts_of[position] = alerts_of[position] or {}
    table.insert(alerts_of[position], alert)
  end
end

-- The reason of alerts that are raised only if the end of their job turns a breaker.
local CIRCUIT_OPEN = 'circuit_open'

-- Answers nil when a team's callback queue has another number than the caller knows: a Redis that lost its last writes
-- may have given the number to another team.
local function read_live(meta)
  return call('HMGET', meta, QUEUE.active, QUEUE.maxParallel, QUEUE.cronId, QUEUE.name, QUEUE.teamNumber, QUEUE.flow)
end
local function open_batch(now)
  for _, queue in ipairs(callback_queues) do
    if (call('HGET', KEYS.teamNumbers, queue.team) or '0') ~= queue.teamNumber then return nil end
  end
  use_ring(KEYS.ring, KEYS.teams)
  local batch = {
    now = now, minutes = {}, callback_queues = {}, ended_runs = {}, freed = {},
    settings_released = {}, calls_dropped = 0, woken = 0, has_failed = false,
    call_bytes = tonumber(call('HGET', KEYS.shardUsage, SHARD_USAGE.callBytes) or '') or 0,
  }
  batch.call_bytes_before = batch.call_bytes
  for _, row in ipairs(minute_rows) do batch.minutes[tonumber(row.minute)] = row.bucket end
  for _, queue in ipairs(callback_queues) do batch.callback_queues[queue.localId] = queue end
  read_runs_and_alerts()
  Failures.read_all()
  for _, queue in ipairs(queue_rows) do
    -- Without an active flag the queue was deleted: its slots are freed, and nothing is written for it. Lists are made when
    -- something comes into them, and what `live` has is not copied, because each further field could double the table.
    local ok, live = guarded(queue.localId, read_live, queue.meta)
    queue.live, queue.is_failed = live or {}, not ok
    queue.bytes, queue.jobs, queue.freed_count, queue.ended_count = 0, 0, 0, 0
    if Flow.counts_ends(queue.live[FLOW]) then queue.flow = Flow.at(queue.meta, queue.live[FLOW], now) end
  end
  return batch
end

-- Notes what the end of a job says of its target. A job whose end turns the breaker raises the alert that was sent along.
local function note_flow(batch, queue, job)
  local flow, kind = queue.flow, job.kind
  queue.has_news = true
  local says = kind == END.success and 'g' or job.says
  if says and not job.is_quarantined then
    job.turned = Flow.note_end(flow, batch.now, job.id, says == 'b', job.asked)
  else
    Flow.lose_probe(flow, job.id)
  end
end

-- Notes why a chain failed for good, which stands in the hash of its queue, and what the end of a job raises for its queue.
-- A job that the step found damaged raises nothing: what its queue wants is unknown.
local function note_failure(queue, job)
  if job.is_quarantined and job.kind ~= END.quarantined or job.kind == END.released then return end
  if job.failure and not queue.live[CRON] then queue.failure_reason = job.failure end
  local raised = alerts_of[job.position]
  if not raised then return end
  for _, alert in ipairs(raised) do
    if alert.reason ~= CIRCUIT_OPEN or job.turned then
      Alerts.raise(alert_teams[tonumber(alert.teamPosition)], {
        type = alert.type, reason = alert.reason, kind = 'queue', resource = alert.queueId,
        suppressed = alert.suppressedBy, job = job.id, facts = alert.facts,
      })
    end
  end
end

-- The same of the jobs of a plain place, all of which succeeded.
local function note_successes(batch, queue, place)
  queue.has_news = true
  local others = place.last - place.before
  for i = place.before + 1, place.last do
    if ids[i] == queue.flow.probe then
      Flow.note_end(queue.flow, batch.now, ids[i], false, nil)
      others = others - 1
    end
  end
  Flow.note_successes(queue.flow, batch.now, others)
end

-- Ends the jobs of a plain place, all of which are held; `close_batch` writes them together. Places of a queue that follow
-- each other become one.
local function end_plainly(batch, place)
  local queue, stretch, before, last = place.queue, place.stretch, place.before, place.last
  local count, freed, n = last - before, batch.freed, #batch.freed
  for i = 1, count do freed[n + i] = ids[before + i] end
  queue.freed_count = queue.freed_count + count
  local previous = queue.ended and queue.ended[#queue.ended]
  if previous and previous.last == before then
    previous.last = last
  else
    add_to(queue, 'ended', place)
  end
  if not queue.live[1] then return end
  queue.ended_count = queue.ended_count + count
  if queue.flow then note_successes(batch, queue, place) end
  queue.bytes, queue.jobs = queue.bytes + place.growth, queue.jobs - count
  batch.settings_released[stretch.settingsHash] = (batch.settings_released[stretch.settingsHash] or 0) + count
  for i = before + 1, last do
    if runs[i] then Runs.note_end(batch.ended_runs, runs[i], stretch.kind, ids[i]) end
  end
  EndLog.add(queue, stretch.kind, before + 1, last)
end

local function settle_job(batch, job)
  local queue = job.queue
  if job.kind == END.freed then return end
  if not queue.live[1] then
    queue.freed_count = queue.freed_count + 1
    add_to(queue, 'freed', job.id)
    return
  end
  Settle.settle(batch, queue, job)
  if queue.flow then note_flow(batch, queue, job) end
  local run = runs[job.position]
  if run then Runs.note_end(batch.ended_runs, run, job.kind, job.id) end
  note_failure(queue, job)
  Failures.count(queue, job)
  EndLog.add(queue, job.is_quarantined and END.quarantined or job.kind, job.position, job.position)
  -- A suspect keeps its slot.
  if job.is_suspect then return end
  queue.freed_count = queue.freed_count + 1
  add_to(queue, 'freed', job.id)
  if job.kind == END.released then
    queue.has_released = true
  else
    add_to(queue, 'dropped', job.id)
  end
end

-- Ends one job. Answers false when that threw, and the job stays held.
local function end_job(batch, job)
  if job.queue.is_failed or not guarded(job.id, settle_job, batch, job) then
    job.is_failed, batch.has_failed = true, true
    return false
  end
  -- The list is filled by index: table.insert takes twice as long, and this is done for each job.
  batch.freed[#batch.freed + 1] = job.id
  return true
end

-- Tells whether the keeper of histories has work with one of this length: that of a cron is too long, or that of a
-- queue has chains for another block.
local function has_grown(queue, length)
  if queue.live[CRON] then return length > tonumber(ARGV.trimHiddenAbove) end
  return math.floor(length / 256) > math.floor((length - queue.ended_count) / 256)
end

-- Removes the slots and the records of the queue's jobs.
local function free(queue)
  local exists = queue.live[1]
  for _, place in ipairs(queue.ended or {}) do
    if place.last then
      call('ZREM', queue.inFlight, unpack(ids, place.before + 1, place.last))
      if exists then call('HDEL', queue.records, unpack(ids, place.before + 1, place.last)) end
    end
  end
  if queue.freed then call('ZREM', queue.inFlight, unpack(queue.freed)) end
  if queue.dropped then call('HDEL', queue.records, unpack(queue.dropped)) end
end

-- Writes what the ends of jobs mean for how fast the target may be called. Answers whether jobs may begin again.
local function close_flow(batch, queue)
  local flow, live = queue.flow, queue.live
  if live[1] ~= '1' and live[1] ~= THROTTLED then
    Flow.save(flow)
    return false
  end
  -- Without a job that waits there is nobody to wake: the claim of the next one finds out that it may not begin.
  local is_kept = Flow.is_stopped(flow, batch.now) or live[1] == THROTTLED and Flow.allowed(flow, batch.now) < 1
  if is_kept and call('LLEN', queue.ready) > 0 then
    Flow.throttle(flow, batch.now, queue.localId)
    live[1] = THROTTLED
    return false
  end
  Flow.save(flow, '1')
  if live[1] ~= THROTTLED then return false end
  call('ZREM', KEYS.nearSet, queue.localId .. '|' .. MARK_JOB)
  live[1] = '1'
  return true
end

-- Writes what the jobs of a queue leave. Answers the length of its history, if that has grown.
local function close_queue(batch, queue)
  local live = queue.live
  local length = queue.ended_count > 0 and Settle.write_finished(batch, queue, ids) or 0
  for _, id in ipairs(queue.returned or {}) do call('LPUSH', queue.ready, id) end
  free(queue)
  if queue.failure_reason then
    call('HSET', queue.meta, QUEUE.lastFailure, pad13(batch.now) .. '|' .. queue.failure_reason)
  end
  local has_resumed = live[1] and queue.has_news and close_flow(batch, queue)
  -- A queue without a limit becomes runnable only by a released job, or by one that shows that its target works again.
  if live[1] and (live[2] or queue.has_released or has_resumed) then
    batch.woken = batch.woken + wake(queue.localId, live[TEAM_NUMBER], live, queue.ready, queue.inFlight)
  end
  return length
end

-- Answers the chains that a queue was to keep.
local function ended_roots(queue)
  local roots = {}
  for _, one in ipairs(queue.ended or {}) do
    for i = one.last and one.before + 1 or one.position, one.last or one.position do
      roots[#roots + 1] = root_of(ids[i])
    end
  end
  return roots
end
local function forget_summaries(queue, roots) call('HDEL', queue.summaries, unpack(roots)) end
local function forget_history(queue, roots)
  for _, root in ipairs(roots) do call('LREM', queue.history, 1, root) end
end

-- Takes back what was written and noted of the jobs of a queue that could not be written: they stay held, and may end in
-- another way.
local function keep_held(batch, queue, held)
  local roots = ended_roots(queue)
  if #roots > 0 then
    guarded(queue.localId, forget_summaries, queue, roots)
    guarded(queue.localId, forget_history, queue, roots)
  end
  queue.is_failed, queue.end_log, batch.has_failed = true, nil, true
  local kept, exists = {}, queue.live[1]
  local function keep(id, kind, hash)
    kept[id] = true
    if exists and hash and (kind == END.success or kind == END.failed_no_retries or kind == END.dead_letter) then
      batch.settings_released[hash] = (batch.settings_released[hash] or 0) - 1
    end
  end
  for _, row in ipairs(held) do
    if row.queue == queue and row.last then
      for i = row.before + 1, row.last do keep(ids[i], row.stretch.kind, row.stretch.settingsHash) end
    elseif row.queue == queue and not row.is_failed then
      if row.is_quarantined then
        keep(row.id, END.dead_letter, row.released_hash)
      else
        keep(row.id, row.kind, row.settingsHash)
      end
    end
  end
  local freed, ended_runs = {}, {}
  for _, id in ipairs(batch.freed) do
    if not kept[id] then freed[#freed + 1] = id end
  end
  for _, run in ipairs(batch.ended_runs) do
    if not kept[run.job] then ended_runs[#ended_runs + 1] = run end
  end
  batch.freed, batch.ended_runs = freed, ended_runs
end

local function write_call_bytes(bytes)
  call('HSET', KEYS.shardUsage, SHARD_USAGE.callBytes, string.format('%.0f', bytes))
end

-- Frees slots, holders and records, wakes queues, and raises alerts. `held`: the jobs and plain places that were ended.
-- Answers the queues whose history has grown, and what was raised.
local function close_batch(batch, held)
  local grown = {}
  for _, queue in ipairs(queue_rows) do
    -- A suspect that is given back frees no slot, and its record may have grown.
    if queue.freed_count > 0 or queue.has_news or queue.bytes ~= 0 then
      local live = queue.live
      local ok, length = guarded(queue.localId, close_queue, batch, queue)
      if not ok then
        keep_held(batch, queue, held)
      else
        for _, job in ipairs(queue.leaving or {}) do guarded(job.id, Settle.leave, batch, queue, job) end
        if queue.ended_count > 0 and has_grown(queue, length) then table.insert(grown, queue.localId) end
        if live[1] then Usage.note(Usage.team_of(live[NAME]), queue.bytes, queue.jobs, -queue.freed_count) end
        if queue.failed_groups then guarded('issues of ' .. queue.localId, Issues.write_queue, queue, batch.now) end
      end
    end
  end
  for hash, count in pairs(batch.settings_released) do
    if count > 0 then guarded('settings', release_settings, hash, count) end
  end
  if batch.call_bytes ~= batch.call_bytes_before then guarded('call bytes', write_call_bytes, batch.call_bytes) end
  guarded('usage', Usage.write, KEYS.teamUsage)
  guarded('statistics', EndLog.push, queue_rows, batch.now)
  Runs.end_runs(KEYS.cronStates, batch.ended_runs)
  if #batch.freed > 0 then call('HDEL', KEYS.heldJobs, unpack(batch.freed)) end
  for _, team in ipairs(Alerts.teams) do guarded('alerts of ' .. team.team, Alerts.write_team, team, batch.now) end
  return grown, Alerts.told()
end
