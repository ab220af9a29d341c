#!lua flags=no-writes
-- look_queues: reads what the limits of queues are judged by, and what stands of their warnings. Dead letters are counted
-- for each retention, as a queue's chains most often have the same.
-- Answer {now, {name or '' (no such queue), settings hash, active, limit or '', slots taken, ready, oldest due or '',
--       expiring, the standing warning of each reason or ''…, dead letters added of each retention…} of each queue,
--       {settings hash, settings json…}}
local call = redis.call
--#include lib/record
--#include lib/suspects
--#include queues/queue_counts

local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(ms) return string.format('%.0f', ms) end

local reasons = { 'queue_saturated', 'dead_letters_growing', 'dead_letters_expiring' }
local queues = ROWS.queues
local retentions = { unpack(ARGV, arg_at + 1) }
local rows, hashes, is_named = {}, {}, {}
for i, queue in ipairs(queues) do
  local live = call('HMGET', queue.meta, QUEUE.name, QUEUE.settingsHash, QUEUE.active, QUEUE.maxParallel,
    QUEUE.cancelledReady)
  local hash = live[2] or ''
  local counts = queue_counts(queue, live[5])
  local row = {
    live[1] or '', hash, live[3] or '', live[4] or '', counts.slots, counts.ready_count, oldest_ready(queue, counts),
    call('ZCOUNT', queue.deadLetters, '-inf', text(now + tonumber(ARGV.expiringMs))),
  }
  local fields = {}
  for nth, reason in ipairs(reasons) do fields[nth] = reason .. '|q' .. queue.localId end
  for _, standing in ipairs(call('HMGET', KEYS.limitWarnings, unpack(fields))) do row[#row + 1] = standing or '' end
  for _, retention in ipairs(retentions) do
    local purged = now + tonumber(retention)
    row[#row + 1] = call('ZCOUNT', queue.deadLetters, '(' .. text(purged - tonumber(ARGV.growingMs)), text(purged))
  end
  rows[i] = row
  if hash ~= '' and not is_named[hash] then
    is_named[hash] = true
    hashes[#hashes + 1] = hash
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
return { text(now), rows, settings }
