-- Shared by the steps that fire jobs. Adds `OpenJob.fire`. Wants `OpenJob`, `pad13`, `Usage` and `wake`.

-- A resend looks for the job this far from the end of the ready list.
local RESENT_WITHIN = 1000

-- Makes a delayed job due now. What names it in a minute bucket stays there, and is dropped when its minute comes, since
-- the record has another due time by then. A job that became due at `asked` or later was fired by the same call when it
-- was sent before, or is due as asked.
-- Answers 'fired' · 'fired_before' · 'already_due' (it waits for a slot, or may do so) · 'in_flight' · 'not_pending' ·
-- 'damaged', and how many queues became runnable.
function OpenJob.fire(queue, job, now, asked)
  local body = call('HGET', queue.records, job.id)
  if not body then return 'not_pending', 0 end
  if not Record.is_sound(body) then return 'damaged', 0 end
  local due = tonumber(Record.due(body))
  local place = OpenJob.place(queue, job, body, now)
  if place ~= 'near set' and place ~= 'bucket' or due <= now then
    -- If it is ready and listed again, it runs twice; if it is in a bucket, it runs when it was due before.
    if place == 'unknown' and due > now then return 'already_due', 0 end
    if due >= asked then return 'fired_before', 0 end
    return place == 'in flight' and 'in_flight' or 'already_due', 0
  end
  local bar = string.find(body, '|', 31, true)
  local lag = now - due + (tonumber(string.sub(body, 31, bar - 1)) or 0)
  local fired = pad13(now) .. string.sub(body, 14, 15) .. (Record.is_large(body) and '1' or '0')
    .. string.sub(body, 17, 30) .. (lag ~= 0 and whole(lag) or '') .. string.sub(body, bar)
  -- The ready list is written first, or a step that was stopped half way would lose the job. Sent again, the step finds
  -- it at the end of the list.
  if not call('LPOS', queue.ready, job.id, 'RANK', -1, 'MAXLEN', RESENT_WITHIN) then call('RPUSH', queue.ready, job.id) end
  local live = OpenJob.live(queue)
  local woken = wake(queue.localId, live[4], live, queue.ready, queue.inFlight)
  call('HSET', queue.records, job.id, fired)
  if place == 'near set' then call('ZREM', KEYS.nearSet, queue.localId .. '|' .. job.id) end
  Usage.note(Usage.team_of(live[3]), #fired - #body, 0, 0)
  return 'fired', woken
end
