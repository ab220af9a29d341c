#!lua flags=no-writes
-- count_queues: counts the jobs of many queues, and says since when the oldest ready one of each is due.
-- KEYS  1 q  2 r  3 b  4 a  5 x  then the same of each further queue
-- ARGV  queues
-- Answer {now, then of each queue: ready or -1 (there is no such queue), records, in flight, dead, due or ''…}
local call = redis.call
--#include lib/record
--#include lib/suspects

-- Ids of cancelled jobs may stand at the head of a ready list. Past so many nothing is said of its age.
local HEADS_MAX = 8
local function oldest_due(ready_key, body_key)
  for i = 0, HEADS_MAX - 1 do
    local id = call('LINDEX', ready_key, i)
    if not id then return '' end
    local body = call('HGET', body_key, id)
    if body then return Record.due(body) or '' end
  end
  return ''
end

local time = call('TIME')
local answer = { string.format('%013.0f', time[1] * 1000 + math.floor(time[2] / 1000)) }
for i = 0, tonumber(ARGV[1]) - 1 do
  local q, r, b, a, x = KEYS[i * 5 + 1], KEYS[i * 5 + 2], KEYS[i * 5 + 3], KEYS[i * 5 + 4], KEYS[i * 5 + 5]
  local ready, records, in_flight, dead, due = 0, 0, 0, 0, ''
  -- One command tells an idle queue, and most are.
  local existing = call('EXISTS', q, r, b, a, x)
  if existing == 0 then ready = -1 end
  if existing > 1 then
    ready, records, in_flight, dead = call('LLEN', r), call('HLEN', b), call('ZCARD', a), call('ZCARD', x)
    local waiting = in_flight > 0 and call('ZCOUNT', a, SUSPECT_WAITS, '+inf') or 0
    if ready > 0 then
      ready = ready - tonumber(call('HGET', q, 'g') or '0')
      due = oldest_due(r, b)
    end
    ready, in_flight = ready + waiting, in_flight - waiting
  end
  for _, value in ipairs({ ready, records, in_flight, dead, due }) do table.insert(answer, value) end
end
return answer
