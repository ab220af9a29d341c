-- Shared by the steps that purge dead letters. Declares `DeadLetter`. Wants `call`, `forget` and `Usage`.

local DeadLetter = {}

-- Removes a dead letter for good. queue: a table of its keys with its `localId` · letter: `root`, `seq`, and its place in
-- the index, `jobIndex` and `field` · due_by: only one whose retention is over by then, nil = any. Answers whether it was
-- there. The caller writes `Usage`.
function DeadLetter.purge(queue, letter, due_by)
  local purge_at = tonumber(call('ZSCORE', queue.deadLetters, letter.root) or '')
  if not purge_at or (due_by and purge_at > due_by) then return false end
  local bytes = call('HSTRLEN', queue.deadLetterRecords, letter.root) + call('HSTRLEN', queue.payloads, letter.seq)
  forget(letter.jobIndex, letter.field, queue.localId)
  call('HDEL', queue.payloads, letter.seq)
  call('HDEL', queue.deadLetterRecords, letter.root)
  call('ZREM', queue.deadLetters, letter.root)
  queue.team = queue.team or Usage.team_of(call('HGET', queue.meta, QUEUE.name))
  Usage.note(queue.team, -bytes, 0, 0)
  return true
end
