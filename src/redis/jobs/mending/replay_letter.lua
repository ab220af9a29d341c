-- Shared by the steps that replay dead letters. Adds `Remake.replay`. Wants `Remake`. The queue has the keys of dead letters,
-- history and summaries as well.

-- Replaces a dead letter, which goes to the finished chains. request '' = the letter's own. oldSeq: of the letter.
-- Answers 'made', due, queues that became runnable · 'changed' (there is none such, or it is damaged) · 'queue_draining' ·
-- 'over_quota' and the name of the quota.
function Remake.replay(queue, job, now, retain_ms)
  local letter = call('HGET', queue.deadLetterRecords, job.root)
  local live = Remake.live(queue)
  if not letter or not Record.is_sound(letter) or not live[3] then return 'changed' end
  if live[7] == '1' then return 'queue_draining' end
  local is_own = job.request == ''
  local own_tail = Record.is_large(letter) and call('HSTRLEN', queue.payloads, job.oldSeq) or 0
  local is_large = is_own and Record.is_large(letter) or job.large ~= ''
  local request = is_own and string.sub(letter, (string.find(letter, '\n', 31, true))) or job.request
  local record = Remake.record(queue, job, now, request, is_large, Record.timeout_ms(letter) / 1000)
  local grown = #record + #job.summary - #letter + (is_own and 0 or #job.large - own_tail)
  local refusal = Quota.admit(KEYS.teamUsage, queue.quota, math.max(0, grown))
  if refusal then return 'over_quota', refusal end
  local tail = job.large
  if is_own and is_large then tail = call('HGET', queue.payloads, job.oldSeq) end
  if tail and tail ~= '' then call('HSET', queue.payloads, job.seq, tail) end
  call('HDEL', queue.payloads, job.oldSeq)
  local woken = Remake.store(queue, job, record)
  call('HSET', queue.summaries, job.root, job.summary)
  if call('LPUSH', queue.history, job.root) == 1 then
    call('ZADD', KEYS.retentionDue, 'LT', now + tonumber(retain_ms), queue.localId)
  end
  Usage.note(queue.quota.name, grown, 1, 0)
  call('HDEL', queue.deadLetterRecords, job.root)
  call('ZREM', queue.deadLetters, job.root)
  return 'made', pad13(now), woken
end
