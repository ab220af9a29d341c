#!lua flags=no-writes
-- read_queues: settings and counts of queues, all of one moment.
-- KEYS  1 set, then (q r b a x) × queues
-- ARGV  queues
-- Answer {{settings hash or '' (there is no such queue), active, max or '', strict or '', ready, records, in flight,
--       dead…}, {settings hash, settings json…}}
local call = redis.call
--#include lib/suspects

local rows, hashes, is_named = {}, {}, {}
for i = 0, tonumber(ARGV[1]) - 1 do
  local q, r, b, a, x = KEYS[i * 5 + 2], KEYS[i * 5 + 3], KEYS[i * 5 + 4], KEYS[i * 5 + 5], KEYS[i * 5 + 6]
  local live = call('HMGET', q, 's', 'a', 'm', 'k', 'g')
  local hash = live[1] or ''
  local ready, records, in_flight, dead = 0, 0, 0, 0
  -- One command tells an idle queue, and most are.
  if hash ~= '' and call('EXISTS', r, b, a, x) > 0 then
    ready, records, in_flight, dead = call('LLEN', r), call('HLEN', b), call('ZCARD', a), call('ZCARD', x)
    ready = ready - (tonumber(live[5] or '0') or 0)
    local waiting = in_flight > 0 and call('ZCOUNT', a, SUSPECT_WAITS, '+inf') or 0
    ready, in_flight = ready + waiting, in_flight - waiting
  end
  if hash ~= '' and not is_named[hash] then
    is_named[hash] = true
    hashes[#hashes + 1] = hash
  end
  for _, value in ipairs({ hash, live[2] or '', live[3] or '', live[4] or '', ready, records, in_flight, dead }) do
    rows[#rows + 1] = value
  end
end

local settings = {}
if #hashes > 0 then
  for i, json in ipairs(call('HMGET', KEYS[1], unpack(hashes))) do
    if json then
      settings[#settings + 1] = hashes[i]
      settings[#settings + 1] = json
    end
  end
end
return { rows, settings }
