#!lua flags=no-writes
-- read_queues: settings and counts of queues, all of one moment.
-- Answer {{settings hash or '' (no such queue), active, limit or '', strict or '', draining or '', ready, records, in flight, dead
--       letters…}, {settings hash, settings json…}}
local call = redis.call
--#include lib/record
--#include lib/suspects
--#include queues/queue_counts

local rows, hashes, is_named = {}, {}, {}
local queues = ROWS.queues
for _, queue in ipairs(queues) do
  local live = call('HMGET', queue.meta, QUEUE.settingsHash, QUEUE.active, QUEUE.maxParallel, QUEUE.strict,
    QUEUE.cancelledReady, QUEUE.draining)
  local hash = live[1] or ''
  local ready, records, in_flight, dead = 0, 0, 0, 0
  -- One command recognizes an idle queue, and most are idle.
  if hash ~= '' and call('EXISTS', queue.ready, queue.records, queue.inFlight, queue.deadLetters) > 0 then
    local counts = queue_counts(queue, live[5])
    ready, records, in_flight = counts.ready_count, counts.record_count, counts.in_flight
    dead = call('ZCARD', queue.deadLetters)
  end
  if hash ~= '' and not is_named[hash] then
    is_named[hash] = true
    hashes[#hashes + 1] = hash
  end
  for _, value in ipairs({ hash, live[2] or '', live[3] or '', live[4] or '', live[6] or '', ready, records, in_flight, dead }) do
    rows[#rows + 1] = value
  end
end

local settings = {}
if #hashes > 0 then
  for i, json in ipairs(call('HMGET', KEYS.settings, unpack(hashes))) do
    if json then
      settings[#settings + 1] = hashes[i]
      settings[#settings + 1] = json
    end
  end
end
return { rows, settings }
