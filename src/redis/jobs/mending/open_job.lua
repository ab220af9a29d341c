-- Shared by the steps that act on jobs that have not ended. Declares `OpenJob`. Wants `call`, `whole`, `Record`,
-- `is_waiting` and the keys of the shard that it names.
--
-- A queue is a table of its keys with its `localId`. A job is a table of `id`, `seq`, and its place in the index: the key
-- `jobIndex` and the `field`. The caller calls `use_ring` before, and writes `Usage` and the audit log after.

local OpenJob = {}

-- A job is looked for this far from each end of the ready list.
local LISTED_WITHIN = 1000

local function ready_or_bucket(queue, job)
  local is_listed = call('LPOS', queue.ready, job.id, 'MAXLEN', LISTED_WITHIN)
    or call('LPOS', queue.ready, job.id, 'RANK', -1, 'MAXLEN', LISTED_WITHIN)
  if is_listed then return 'ready' end
  return call('LLEN', queue.ready) <= 2 * LISTED_WITHIN and 'bucket' or 'unknown'
end

-- Tells whether the shard's time never passed `due`, even before its clock jumped back.
local function is_ahead(due, now)
  if due <= now then return false end
  return due > tonumber(call('HGET', KEYS.clock, CLOCK.latestTime) or '0')
end

-- A record that was in a minute bucket may be ready by now. While its minute is listed, only a due time that is still
-- ahead, or the ready list, tells.
local function not_near(queue, job, body, now)
  if not Record.is_sound(body) then return ready_or_bucket(queue, job) end
  if tonumber(string.sub(body, 16, 16)) < 2 then return 'ready' end
  local due = tonumber(Record.due(body))
  if not call('ZSCORE', KEYS.minutes, whole(math.floor(due / 60000))) then return 'ready' end
  if is_ahead(due, now) then return 'bucket' end
  return ready_or_bucket(queue, job)
end

-- Where a job with this record is: 'in flight', 'suspects', 'near set', 'bucket' or 'ready'; 'unknown' is one of the last
-- two, where the ready list is too long to be looked through.
function OpenJob.place(queue, job, body, now)
  local slot = call('ZSCORE', queue.inFlight, job.id)
  if slot then return is_waiting(slot) and 'suspects' or 'in flight' end
  -- A job that was fired while a minute bucket named it is named in the near set as well once that minute is near, under
  -- the time at which it was due before.
  local near = call('ZSCORE', KEYS.nearSet, queue.localId .. '|' .. job.id)
  if near and (not Record.is_sound(body) or tonumber(near) == tonumber(Record.due(body))) then return 'near set' end
  return not_near(queue, job, body, now)
end

function OpenJob.live(queue)
  return call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.name, QUEUE.teamNumber)
end
