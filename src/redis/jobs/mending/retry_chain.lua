-- Shared by the steps that retry finished chains. Adds `Remake.retry`. Wants `Remake`. The queue has its `summaries` as well.

-- Makes a new job of a finished chain whose summary is still `before`, so that of two calls only one does.
-- Answers as `replay`.
function Remake.retry(queue, job, now)
  local live = Remake.live(queue)
  if call('HGET', queue.summaries, job.root) ~= job.before or not live[3] then return 'changed' end
  if live[7] == '1' then return 'queue_draining' end
  local record = Remake.record(queue, job, now, job.request, job.large ~= '', 30)
  local grown = #record + #job.large + #job.summary - #job.before
  local refusal = Quota.admit(KEYS.teamUsage, queue.quota, grown)
  if refusal then return 'over_quota', refusal end
  if job.large ~= '' then call('HSET', queue.payloads, job.seq, job.large) end
  local woken = Remake.store(queue, job, record)
  call('HSET', queue.summaries, job.root, job.summary)
  Usage.note(queue.quota.name, grown, 1, 0)
  return 'made', pad13(now), woken
end
