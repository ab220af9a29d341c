-- Shared by the steps that cancel jobs. Adds `OpenJob.cancel` and `OpenJob.trim_ready`. Wants `OpenJob`, `Usage`,
-- `forget`, `release_settings_of`, `wake` and `uncount_cancelled`.

-- A retry follows a call; an executor that was lost, or left, may have begun one.
local function may_be_sent(body)
  return string.sub(body, 14, 15) ~= '10' or Record.is_cut(body)
end

-- Removes a pending job for good, also one whose record is damaged. The id of a ready job stays in the ready list and is
-- counted as cancelled: removing it there would take as long as the list. Call `OpenJob.trim_ready` after the last job.
-- is_unsent: only a job is meant whose target cannot have it.
-- Answers 'cancelled' · 'in_flight' · 'not_pending' · 'sent' and 'damaged' only where is_unsent.
function OpenJob.cancel(queue, job, now, is_unsent)
  local body = call('HGET', queue.records, job.id)
  if not body then return 'not_pending' end
  local place = OpenJob.place(queue, job, body, now)
  if place == 'in flight' then return 'in_flight' end
  if is_unsent and not Record.is_sound(body) then return 'damaged' end
  if is_unsent and may_be_sent(body) then return 'sent' end
  release_settings_of(body)
  local bytes = #body
  if not Record.is_sound(body) or Record.is_large(body) then
    bytes = bytes + call('HSTRLEN', queue.payloads, job.seq)
    call('HDEL', queue.payloads, job.seq)
  end
  forget(job.jobIndex, job.field, queue.localId)
  local member = queue.localId .. '|' .. job.id
  if place == 'near set' then call('ZREM', KEYS.nearSet, member) end
  if place == 'ready' then call('HINCRBY', queue.meta, QUEUE.cancelledReady, 1) end
  queue.has_cancelled = queue.has_cancelled or place == 'ready' or place == 'unknown'
  call('HDEL', queue.records, job.id)
  local live = OpenJob.live(queue)
  if place == 'suspects' then
    call('ZREM', queue.inFlight, job.id)
    call('ZREM', KEYS.suspects, member)
    wake(queue.localId, live[4], live, queue.ready, queue.inFlight)
  end
  Usage.note(Usage.team_of(live[3]), -bytes, -1, place == 'suspects' and -1 or 0)
  return 'cancelled'
end

-- Ids of cancelled jobs that a step takes off each end of a ready list, and how many of them it looks at together.
local TRIMMED_MAX = 500
local TRIM_PAGE = 50
-- Ids that a step looks at in all, however many queues a page of a bulk has; what it leaves, claims pass over.
local looks_left = 1000

-- Answers how many ids at an end of the list have no job, up to TRIMMED_MAX and as far as the step may look.
local function cancelled_at(queue, is_tail)
  local found, page = 0, 1
  local most = math.min(TRIMMED_MAX, looks_left)
  while found < most do
    local from, to = found, found + page - 1
    if is_tail then from, to = -to - 1, -from - 1 end
    local ids = call('LRANGE', queue.ready, from, to)
    for i = 1, #ids do
      looks_left = looks_left - 1
      if call('HEXISTS', queue.records, ids[is_tail and #ids + 1 - i or i]) == 1 then return found end
      found = found + 1
    end
    if #ids < page then return found end
    page = math.min(TRIM_PAGE, most - found)
  end
  return found
end

-- Takes ids of cancelled jobs off both ends of the ready list, where this step cancelled any, so that claims need not
-- pass over them. A list of which nothing is left goes whole, however long it is.
function OpenJob.trim_ready(queue)
  if not queue.has_cancelled then return end
  local head, tail, listed = 0, 0, call('LLEN', queue.ready)
  if call('HLEN', queue.records) == 0 then
    head = listed
    call('UNLINK', queue.ready)
  else
    head = cancelled_at(queue, false)
    if head > 0 then call('LTRIM', queue.ready, head, -1) end
    if head < listed then tail = cancelled_at(queue, true) end
    if tail > 0 then call('LTRIM', queue.ready, 0, -tail - 1) end
  end
  if head + tail == 0 then return end
  -- The ring is written last: a queue that stays there without a job is harmless, but the jobs of one that is missing
  -- wait.
  local is_emptied = head + tail >= listed
  if is_emptied then call('ZREM', KEYS.ring, queue.localId) end
  uncount_cancelled(queue.meta, head + tail, is_emptied)
end
