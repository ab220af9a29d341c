#!lua flags=no-writes
-- sample_queues: counts the ready jobs of queues for statistics and live figures.
-- Answer {now, {team/name or '' (no such queue), active, ready, suspects among them, oldest due or ''} of each queue…}
local call = redis.call
--#include lib/record
--#include lib/suspects
--#include queues/queue_counts

local time = call('TIME')
local queues = ROWS.queues
local rows = {}
for i, queue in ipairs(queues) do
  local live = call('HMGET', queue.meta, QUEUE.name, QUEUE.active, QUEUE.cancelledReady)
  local counts = queue_counts(queue, live[3])
  rows[i] = { live[1] or '', live[2] or '', counts.ready_count, counts.waiting, oldest_ready(queue, counts) }
end
return { string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), rows }
