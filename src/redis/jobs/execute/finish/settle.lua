-- Shared by finish and reap: how a job in flight ends. Declares `Settle`, `root_of`, `CRON`, `NAME`, `TEAM_NUMBER`, `FLOW`,
-- `is_of_callbacks` and `add_to`.
--
-- A job record (value in `records`) is text:
--   due(13) attempt(1, base 36) losses(1) flags(1) timeout(3) settings(11) lag '|' chain '\n' request
-- flags: bit 0 = the tail of the request is in `payloads`, bit 1 = was put into a minute bucket. lag = due − created in
-- ms, '' = 0; it begins with a zero when a call of the attempt was begun and cut short.
--
-- A dead letter (value in `deadLetterRecords`) is the record of the last job, its chain with that job. That of a damaged
-- record is '!' attempt(1, base 36) quarantined at(13) '\n' the record as it was found

local Settle = {}

-- Places in `queue.live`. Its first two are the active flag and the limit, as `wake` wants them.
local CRON, NAME, TEAM_NUMBER, FLOW = 3, 4, 5, 6

-- The name of a callback queue ends with '/', as that of a cron's hidden queue does, but it has no cron.
local function is_of_callbacks(queue)
  return not queue.live[CRON] and string.sub(queue.live[NAME] or '', -1) == '/'
end

-- Answers the request part of a record, which is everything from the first line break on.
local function request_part(body)
  return string.sub(body, (string.find(body, '\n', 31, true)))
end

local function attempt_digit(attempt)
  return attempt < 10 and tostring(attempt) or string.char(87 + attempt)
end

local shards = tonumber(ARGV.shards)

-- Answers the id of the chain's first job, which is that of most jobs: domain/jobs/job-ids.ts.
local function root_of(id)
  local number = tonumber(id)
  local retries = math.floor(number / shards) % 16
  return retries == 0 and id or string.format('%.0f', number - retries * shards)
end

-- Answers the field of `payloads` that has the tail of the request.
local function payload_field(id)
  return string.format('%.0f', math.floor(tonumber(id) / (16 * shards)))
end

-- A dead letter is purged at this time, or with the chain's other traces.
local function keep_dead_letter(queue, root, letter, purge_at)
  call('HSET', queue.deadLetterRecords, root, letter)
  call('ZADD', queue.deadLetters, purge_at, root)
  call('ZADD', KEYS.retentionDue, 'LT', purge_at, queue.localId)
end

-- Each of the following three answers by how many bytes the queue's records grow once the job's own record is gone.

-- Keeps a job that cannot run as a dead letter that can be looked at and deleted. Nothing is kept of a callback, which
-- has no history.
function Settle.quarantine(batch, queue, job, body)
  job.is_quarantined = true
  if is_of_callbacks(queue) then return -#body end
  local attempt = math.floor(tonumber(job.id) / shards) % 16 + 1
  local letter = '!' .. attempt_digit(attempt) .. pad13(batch.now) .. '\n' .. body
  keep_dead_letter(queue, root_of(job.id), letter, batch.now + tonumber(ARGV.finishedMs))
  -- This comes last: if the letter cannot be kept, the job stays, and so does its use. `close_batch` lets go of it, as
  -- of all others: its queue may still turn out to be one that cannot be written, and others may use the same settings.
  if Record.is_sound(body) then
    local hash = string.sub(body, 20, 30)
    job.released_hash = hash
    batch.settings_released[hash] = (batch.settings_released[hash] or 0) + 1
  else
    release_settings_of(body)
  end
  return #letter - #body
end

function Settle.retry(batch, queue, job, body)
  local delay = job.delay or 0
  if job.asked and queue.flow and queue.flow.respects then delay = math.max(delay, job.asked) end
  local due = batch.now + delay
  local minute = math.floor(due / 60000)
  local bucket = delay > 60000 and batch.minutes[minute]
  local flags = tonumber(string.sub(body, 16, 16)) % 2 + (bucket and 2 or 0)
  local attempt = tonumber(string.sub(body, 14, 14), 36) + 1
  local id = string.format('%.0f', tonumber(job.id) + shards)
  local record = pad13(due) .. attempt_digit(attempt) .. '0' .. flags .. string.sub(body, 17, 30)
    .. string.format('%.0f', delay) .. '|' .. job.record .. request_part(body)
  call('HSET', queue.records, id, record)
  if bucket then
    call('ZADD', KEYS.minutes, minute, string.format('%.0f', minute))
    call('RPUSH', bucket, queue.localId .. '|' .. id .. '|' .. string.format('%.0f', due - minute * 60000))
  else
    call('ZADD', KEYS.nearSet, due, queue.localId .. '|' .. id)
  end
  return #record - #body
end

function Settle.dead_letter(batch, queue, job, body)
  local bar = string.find(body, '|', 31, true)
  local letter = string.sub(body, 1, bar) .. job.record .. request_part(body)
  keep_dead_letter(queue, root_of(job.id), letter, batch.now + (job.delay or 0))
  return #letter - #body
end

-- Adds to a list of the queue, which is made for its first value.
local function add_to(queue, list_name, value)
  local values = queue[list_name]
  if values then values[#values + 1] = value else queue[list_name] = { value } end
end

-- Writes chains of jobs and plain places one after the other, so that the history has them in their order.
local function write_mixed(queue, ids)
  local roots, words, large, n = {}, {}, {}, 0
  local function write(root, record)
    roots[n + 1], words[n * 2 + 1], words[n * 2 + 2] = root, root, record
    n = n + 1
  end
  for _, one in ipairs(queue.ended) do
    if one.last then
      for i = 1, one.last - one.before do write(ids[one.before + i], ARGV[one.words_before + i * 2]) end
    else
      write(root_of(one.id), one.record)
      if one.is_large then table.insert(large, payload_field(one.id)) end
    end
  end
  call('HSET', queue.summaries, unpack(words))
  local length = call('LPUSH', queue.history, unpack(roots))
  if #large > 0 then call('HDEL', queue.payloads, unpack(large)) end
  return length
end

-- Writes the chains of a queue that have ended: `ended` has their jobs and plain places, `ids` those of all jobs of the
-- batch by position. Answers the length of the queue's history.
function Settle.write_finished(batch, queue, ids)
  local place, length = queue.ended[1], nil
  if #queue.ended == 1 and place.last then
    -- Most often there is a single plain place, whose words already are id, summary, id, summary …
    local before, count = place.words_before, place.last - place.before
    call('HSET', queue.summaries, unpack(ARGV, before + 1, before + count * 2))
    length = call('LPUSH', queue.history, unpack(ids, place.before + 1, place.last))
  else
    length = write_mixed(queue, ids)
  end
  if length == queue.ended_count then
    call('ZADD', KEYS.retentionDue, 'LT', batch.now + tonumber(ARGV.finishedMs), queue.localId)
  end
  return length
end

-- Keeps the record of one call, within the queue's count and the shard's bytes. Answers by how many bytes there are
-- more; nil when it is dropped.
function Settle.keep_call(batch, queue, job)
  local size = #job.call
  if batch.call_bytes + size > tonumber(ARGV.callBytesMax) then return nil end
  local failed = job.kind ~= END.success
  local list = failed and queue.failedCalls or queue.successfulCalls
  call('HSET', queue.callRecords, job.id, job.call)
  local length = call('LPUSH', list, job.id)
  if length == 1 then call('ZADD', KEYS.oldestCalls, 'LT', batch.now, queue.localId) end
  if length > tonumber(failed and ARGV.failedCallsMax or ARGV.successfulCallsMax) then
    local oldest = call('RPOP', list)
    size = size - call('HSTRLEN', queue.callRecords, oldest)
    call('HDEL', queue.callRecords, oldest)
  end
  batch.call_bytes = batch.call_bytes + size
  return size
end

-- A callback is a job of its team's callback queue, under the id of the attempt that it reports. The first one makes the
-- queue, which has no limit and no pause.
local CALLBACK_QUEUE_LIVE = { '1' }
function Settle.callback(batch, queue, job)
  if not queue.name then
    local known = call('HGET', queue.meta, QUEUE.name)
    queue.name = known or queue.team .. '/'
    if not known then
      call('HSET', queue.meta, QUEUE.name, queue.name, QUEUE.active, '1', QUEUE.teamNumber, queue.teamNumber)
    end
  end
  local record = pad13(batch.now) .. job.callback
  Usage.note(Usage.team_of(queue.name), #record, 1, 0)
  call('HSET', queue.records, job.id, record)
  if call('RPUSH', queue.ready, job.id) == 1 then
    batch.woken = batch.woken + wake(queue.localId, queue.teamNumber, CALLBACK_QUEUE_LIVE, queue.ready, queue.inFlight)
  end
end

-- Answers the bytes of a job that ends: of its record, and of its part in `payloads`.
local function bytes_of(queue, job)
  if job.bytes then return job.bytes end
  local large = job.is_large and call('HSTRLEN', queue.payloads, payload_field(job.id)) or 0
  return call('HSTRLEN', queue.records, job.id) + large
end

-- Notes in the record of a job that its call was begun, so that nobody is told that it was never sent.
local function note_cut(queue, job, body)
  if not Record.is_sound(body) or Record.is_cut(body) then return body end
  local at = string.sub(body, 31, 31) == '-' and 32 or 31
  local noted = string.sub(body, 1, at - 1) .. '0' .. string.sub(body, at)
  call('HSET', queue.records, job.id, noted)
  queue.bytes = queue.bytes + 1
  return noted
end

-- Returns a job to the head of the ready list, which `close_batch` writes. One with losses waits among the suspects and
-- keeps its slot. Its `record` is 'cut' when its call was begun.
local function release(batch, queue, job)
  local body = job.body or call('HGET', queue.records, job.id)
  if body and job.record == 'cut' then body = note_cut(queue, job, body) end
  job.is_suspect = body and tonumber(string.match(string.sub(body, 15, 15), '^%d$') or '0') > 0
  if job.is_suspect then
    call('ZADD', queue.inFlight, waiting_score(Record.due(body)), job.id)
    call('ZADD', KEYS.suspects, batch.now, queue.localId .. '|' .. job.id)
  else
    add_to(queue, 'returned', job.id)
  end
end

-- Ends one job of a queue that exists. The caller writes its slot, its holder, its record and what is noted on `queue`,
-- once per queue.
function Settle.settle(batch, queue, job)
  local kind = job.kind
  if kind == END.released then return release(batch, queue, job) end
  local needs_body = kind == END.retry or kind == END.dead_letter or kind == END.quarantined
  local body = needs_body and (call('HGET', queue.records, job.id) or '')
  -- A record can become damaged while its job is in flight, and no retry can be made of it then.
  if body and (kind == END.quarantined or not Record.is_sound(body)) then
    queue.bytes = queue.bytes + Settle.quarantine(batch, queue, job, body)
  elseif kind == END.retry then
    queue.bytes = queue.bytes + Settle.retry(batch, queue, job, body)
  elseif kind == END.dead_letter then
    queue.bytes = queue.bytes + Settle.dead_letter(batch, queue, job, body)
  elseif kind == END.success or kind == END.failed_no_retries then
    queue.bytes = queue.bytes + #job.record - bytes_of(queue, job)
    add_to(queue, 'ended', job)
    queue.ended_count = queue.ended_count + 1
  else
    queue.bytes = queue.bytes - bytes_of(queue, job)
  end
  if kind ~= END.retry or job.is_quarantined then queue.jobs = queue.jobs - 1 end
  if not job.is_quarantined and (kind == END.success or kind == END.failed_no_retries or kind == END.dead_letter) then
    batch.settings_released[job.settingsHash] = (batch.settings_released[job.settingsHash] or 0) + 1
  end
  if job.call or job.callback then add_to(queue, 'leaving', job) end
end

-- Writes what a job leaves beside its end: the record of its call, and its callback. Comes once the queue is written, so
-- that no callback is made twice because the end of another job of its queue threw.
function Settle.leave(batch, queue, job)
  if job.callback then Settle.callback(batch, batch.callback_queues[queue.callbackQueue], job) end
  if not job.call then return end
  local kept = Settle.keep_call(batch, queue, job)
  if kept then queue.bytes = queue.bytes + kept else batch.calls_dropped = batch.calls_dropped + 1 end
end
