-- What a queue holds, as every list, status, statistic, warning, stream and reading of the backlog counts it. Declares
-- `queue_counts` and `oldest_ready`. Wants `call`, `Record` and `SUSPECT_WAITS`.
--
-- Ready is a job that is due and waits for a call: in the ready list (`in_line`), or as a suspect (`waiting`). In flight is
-- one that an executor has. `slots` are those that the queue's limit counts: of the jobs in flight, and of the waiting
-- suspects, which keep theirs. The ids of cancelled jobs in the ready list are counted off. A cancel that would have had to
-- look through a long list has not counted its id, so no more jobs are in line than have a record and no slot.

local function queue_counts(queue, cancelled_ready)
  local records, slots = call('HLEN', queue.records), call('ZCARD', queue.inFlight)
  local waiting = slots > 0 and call('ZCOUNT', queue.inFlight, SUSPECT_WAITS, '+inf') or 0
  local listed = call('LLEN', queue.ready) - (tonumber(cancelled_ready or '') or 0)
  local in_line = math.max(0, math.min(listed, records - slots))
  return {
    ready_count = in_line + waiting, in_line = in_line, waiting = waiting, in_flight = slots - waiting, slots = slots,
    record_count = records,
  }
end

-- Ids of cancelled jobs may stand at the head of a ready list until a claim passes over them. A step looks at no more of
-- them than this, over all its queues; the age of what stands behind them is then unknown.
local heads_left = 1000
local HEADS_PAGE = 50

-- Answers since when the first job of the ready list is due, as 13 digits; nil = there is none.
local function oldest_in_line(queue, counts)
  if counts.in_line == 0 then return nil end
  local place, page = 0, 1
  while heads_left > 0 do
    local ids = call('LRANGE', queue.ready, place, place + page - 1)
    for _, id in ipairs(ids) do
      heads_left = heads_left - 1
      local body = call('HGET', queue.records, id)
      local due = body and Record.due(body)
      if due then return due end
    end
    if #ids < page then return nil end
    place, page = place + page, math.min(HEADS_PAGE, heads_left)
  end
  return nil
end

-- Answers the same of the waiting suspects: of all that say in their score since when they are due.
local function oldest_waiting(queue, counts)
  if counts.waiting == 0 then return nil end
  local noted = call('ZRANGE', queue.inFlight, '(' .. SUSPECT_WAITS, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  return noted[2] and string.format('%013.0f', tonumber(noted[2]) - tonumber(SUSPECT_WAITS))
end

-- Answers since when the oldest ready job is due, as 13 digits; '' = none is ready.
local function oldest_ready(queue, counts)
  local in_line, waiting = oldest_in_line(queue, counts), oldest_waiting(queue, counts)
  if in_line and waiting and waiting < in_line then return waiting end
  return in_line or waiting or ''
end
