-- Shared by the steps that make queues runnable. Declares `entry_of`, `enter_ring` and `wake`.

-- A queue enters the ring just behind its head: at the head's own score it would starve the others at limit 1.
local ring_entry
local function entry_of(ring)
  if not ring_entry then
    local head = call('ZRANGE', ring, 0, 0, 'WITHSCORES')
    ring_entry = head[2] and (tonumber(head[2]) + 1) or 0
  end
  return ring_entry
end

local function enter_ring(ring, q)
  return call('ZADD', ring, 'NX', entry_of(ring), q)
end

-- Puts the queue into the ring if it is active, has ready jobs and a free slot. `live` = HMGET q: a m.
-- Answers 1 when the queue was not in the ring before.
local function wake(ring, q, live, ready_key, inflight_key)
  if live[1] ~= '1' then return 0 end
  if call('LLEN', ready_key) == 0 then return 0 end
  local max = tonumber(live[2] or '')
  if max and call('ZCARD', inflight_key) >= max then return 0 end
  return enter_ring(ring, q)
end
