#!lua flags=no-writes
-- read_queues: reads queues at one moment: what each is, what it holds and, when asked, its settings. `spans` are pairs of
-- ms from now on: how many dead letters are purged after the first and not after the second; '' = from the beginning.
-- Answer {now, {name, settings hash, active, limit, strict, draining, last failure, lost jobs, flow, flow state, ready, suspects among them,
--       slots taken, records, dead letters, oldest due, how many jobs its flow allows now, dead letters of each span…} of each
--       queue, {settings hash, settings json…}}.
--       What there is not is ''.
local call = redis.call
--#include base/engine/engine_time
--#include base/lib/record
--#include base/lib/suspects
--#include base/ring/mark
--#include base/ring/flow
--#include jobs/queues/queue_counts

local now = engine_time(KEYS.clock)
local function from_now(ms) return string.format('%.0f', now + tonumber(ms)) end

local queues = ROWS.queues
local spans = {}
for at = arg_at + 1, #ARGV, 2 do
  spans[#spans + 1] = { ARGV[at] == '' and '-inf' or '(' .. from_now(ARGV[at]), from_now(ARGV[at + 1]) }
end

local NOTHING = { ready_count = 0, waiting = 0, slots = 0, record_count = 0 }

local rows, hashes, is_named = {}, {}, {}
for i, queue in ipairs(queues) do
  local live = call('HMGET', queue.meta, QUEUE.name, QUEUE.settingsHash, QUEUE.active, QUEUE.maxParallel, QUEUE.strict,
    QUEUE.draining, QUEUE.lastFailure, QUEUE.lostJobs, QUEUE.flow, QUEUE.flowState, QUEUE.cancelledReady)
  local row = {}
  for at = 1, 10 do row[at] = live[at] or '' end
  local counts, dead, due, allowed = NOTHING, 0, '', ''
  -- Two commands are enough for an idle queue, and most are idle.
  if call('EXISTS', queue.ready, queue.records, queue.inFlight, queue.deadLetters) > 0 then
    counts, dead = queue_counts(queue, live[11]), call('ZCARD', queue.deadLetters)
    due = oldest_ready(queue, counts)
    local flow = counts.ready_count > 0 and live[9] and Flow.at(queue.meta, live[9], now)
    if flow then allowed = string.format('%.0f', Flow.allowed(flow, now)) end
  end
  for _, value in ipairs({ counts.ready_count, counts.waiting, counts.slots, counts.record_count, dead, due, allowed }) do
    row[#row + 1] = value
  end
  for _, span in ipairs(spans) do
    row[#row + 1] = dead == 0 and 0 or call('ZCOUNT', queue.deadLetters, span[1], span[2])
  end
  rows[i] = row
  local hash = row[2]
  if ARGV.wantsSettings == '1' and hash ~= '' and not is_named[hash] then
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
return { string.format('%.0f', now), rows, settings }
