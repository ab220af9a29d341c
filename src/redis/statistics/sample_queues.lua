#!lua flags=no-writes
-- sample_queues: counts the ready jobs of queues for statistics.
-- Answer {now, {team/name or '' (no such queue), active, ready, oldest due or ''} of each queue…}
local call = redis.call
--#include lib/record
--#include queues/oldest_due

local time = call('TIME')
local queues = ROWS.queues
local rows = {}
for i, queue in ipairs(queues) do
  local live = call('HMGET', queue.meta, QUEUE.name, QUEUE.active, QUEUE.cancelledReady)
  local listed = call('LLEN', queue.ready)
  local ready = math.max(0, listed - (tonumber(live[3] or '') or 0))
  rows[i] = { live[1] or '', live[2] or '', ready, ready > 0 and oldest_due(queue) or '' }
end
return { string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), rows }
