-- Shared by the steps that cancel jobs. Adds `OpenJob.cancel`. Wants `OpenJob`, `Usage`, `forget`, `release_settings_of`
-- and `wake`.

-- Removes a pending job for good, also one whose record is damaged. The id of a ready job stays in the ready list and is
-- counted as cancelled: removing it there would take as long as the list.
-- Answers 'cancelled' · 'in_flight' · 'not_pending'.
function OpenJob.cancel(queue, job, now)
  local body = call('HGET', queue.records, job.id)
  if not body then return 'not_pending' end
  local place = OpenJob.place(queue, job, body, now)
  if place == 'in flight' then return 'in_flight' end
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
