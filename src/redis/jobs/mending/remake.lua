-- Shared by the steps that make a new job of a chain that has ended. Declares `Remake`. Wants `call`, `pad13`, `Record`,
-- `Usage`, `Quota`, `wake`, `index_jobs` and the keys of the shard that it names.
--
-- A queue is a table of its keys with its `localId`, and `quota`, its team as `Quota.add_team` answers it. A job is a table
-- of `root`, the chain's; `id`, `seq` and the place in the index of the new job, `jobIndex`, `block` and `field`;
-- `nonce`, which marks the id blocks of the caller; `timeout` in seconds, '' = the queue's; `request`, the request part
-- of the new record, and `large`, its tail for `payloads` or ''; `summary`, that of the ended chain with a note of the
-- new job. The new job is due at once. The caller calls `use_ring`, `Quota.bound` and `Remake.made_before` before, and
-- writes `Usage`, `Quota` and the audit log after.

local Remake = {}

-- Tells whether the job was made when the step was sent before. Answers 'made_before' and the due time, 'foreign_block'
-- when the id block belongs to another process, or nil when it is not made yet.
function Remake.made_before(queue, job, now)
  local found = call('HMGET', job.jobIndex, INDEX.owner, job.field)
  if (found[1] or job.nonce) ~= job.nonce then return 'foreign_block' end
  job.owner = found[1]
  if not found[2] then return nil end
  local made = call('HGET', queue.records, job.id)
  return 'made_before', made and Record.due(made) or pad13(now)
end

-- Several jobs of a step share what is known of their queue.
function Remake.live(queue)
  queue.live = queue.live or call('HMGET', queue.meta, QUEUE.active, QUEUE.maxParallel, QUEUE.settingsHash,
    QUEUE.timeoutSeconds, QUEUE.name, QUEUE.teamNumber, QUEUE.draining)
  return queue.live
end

-- Makes the record of the new job. timeout: used where neither the job nor the queue has a sound one.
function Remake.record(queue, job, now, request, is_large, timeout)
  local live = Remake.live(queue)
  timeout = job.timeout ~= '' and job.timeout or string.match(live[4] or '', '^%d%d?%d?$') or timeout
  return pad13(now) .. '10' .. (is_large and 1 or 0) .. string.format('%03d', timeout) .. live[3] .. '|' .. request
end

-- Stores the new job. Answers how many queues became runnable.
function Remake.store(queue, job, record)
  local live, woken = Remake.live(queue), 0
  call('HINCRBY', KEYS.settingsUses, live[3], 1)
  call('HSET', queue.records, job.id, record)
  if call('RPUSH', queue.ready, job.id) == 1 then
    woken = wake(queue.localId, live[6], live, queue.ready, queue.inFlight)
  end
  -- From here on a resend finds the new job made.
  index_jobs(job, job.owner, job.nonce, { job.field, queue.localId })
  return woken
end
