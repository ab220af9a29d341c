#!lua flags=no-writes
-- count_queues: counts the jobs of many queues, and says since when the oldest ready one of each is due, and when and why a
-- chain of it last failed for good.
-- Answer {now, then for each queue: ready or -1 (no such queue), records, in flight, dead letters, due or '', failure or ''…}
local call = redis.call
--#include lib/record
--#include lib/suspects
--#include queues/queue_counts

local time = call('TIME')
local answer = { string.format('%013.0f', time[1] * 1000 + math.floor(time[2] / 1000)) }
local queues = ROWS.queues
for _, queue in ipairs(queues) do
  local ready, records, in_flight, dead, due, failure = 0, 0, 0, 0, '', false
  -- Two commands are enough for an idle queue, and most are idle.
  local existing = call('EXISTS', queue.meta, queue.ready, queue.records, queue.inFlight, queue.deadLetters)
  if existing == 0 then
    ready = -1
  elseif existing == 1 then
    failure = call('HGET', queue.meta, QUEUE.lastFailure)
  else
    local live = call('HMGET', queue.meta, QUEUE.cancelledReady, QUEUE.lastFailure)
    local counts = queue_counts(queue, live[1])
    ready, records, in_flight = counts.ready_count, counts.record_count, counts.in_flight
    dead, failure, due = call('ZCARD', queue.deadLetters), live[2], oldest_ready(queue, counts)
  end
  for _, value in ipairs({ ready, records, in_flight, dead, due, failure or '' }) do table.insert(answer, value) end
end
return answer
