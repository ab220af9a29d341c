-- Shared by the steps that act on jobs that have not ended. Declares `OpenJob`. Wants `call`, `whole`, `Record`,
-- `is_waiting` and the keys of the shard that it names.
--
-- A queue is a table of its keys with its `localId`. A job is a table of `id`, `seq`, and its place in the index: the key
-- `jobIndex` and the `field`. The caller calls `use_ring` before, and writes `Usage` and the audit log after.

local OpenJob = {}

-- A record that was in a minute bucket may be ready by now. While its minute is listed and its time has come, only the
-- ready list tells. The shard's time never passed a due time that is still ahead, unless the clock has jumped back.
local function is_in_bucket(queue, job, body, now)
  local function is_listed() return call('LPOS', queue.ready, job.id) end
  if not Record.is_sound(body) then return not is_listed() end
  if tonumber(string.sub(body, 16, 16)) < 2 then return false end
  local due = tonumber(Record.due(body))
  if not call('ZSCORE', KEYS.minutes, whole(math.floor(due / 60000))) then return false end
  if due > now and call('HEXISTS', KEYS.clock, CLOCK.jumpsBack) == 0 then return true end
  return not is_listed()
end

-- Where a job with this record is: 'in flight', 'suspects', 'near set', 'bucket' or 'ready'.
function OpenJob.place(queue, job, body, now)
  local slot = call('ZSCORE', queue.inFlight, job.id)
  if slot then return is_waiting(slot) and 'suspects' or 'in flight' end
  if call('ZSCORE', KEYS.nearSet, queue.localId .. '|' .. job.id) then return 'near set' end
  return is_in_bucket(queue, job, body, now) and 'bucket' or 'ready'
end

function OpenJob.live(queue)
  return call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.name, QUEUE.teamNumber)
end
