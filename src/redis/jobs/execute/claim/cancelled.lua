-- Shared by the steps that take ids of cancelled jobs off a ready list. Declares `uncount_cancelled`. Wants `call`.

-- Counts off ids that leave the ready list. Some may never have been counted, for a cancel does not look through a long
-- list for its job: a list without ids has none, and makes the count right again.
local function uncount_cancelled(meta, count, is_emptied)
  if is_emptied then
    call('HSET', meta, QUEUE.cancelledReady, 0)
  elseif count > 0 and call('HINCRBY', meta, QUEUE.cancelledReady, -count) < 0 then
    call('HSET', meta, QUEUE.cancelledReady, 0)
  end
end
