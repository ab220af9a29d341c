-- Shared by the steps that make queues runnable. Declares `entry_of` and `wake`. Wants the functions of `bands`.

-- The score at which a queue of the team enters the ring: just behind the head of its band, as teams do. When the band is
-- empty, the team joins `teams` first: a queue whose team is missing there would wait forever.
local entries = {}
local function entry_of(u)
  local known = entries[u]
  if known then return known end
  local head = call('ZRANGE', ring_key, band_start(u), '(' .. band_start(u + 1), 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  if not head[2] then join_teams(u) end
  entries[u] = head[2] and whole(tonumber(head[2]) + 1) or band_start(u)
  return entries[u]
end

-- Puts the queue into the ring if it is active, has ready jobs and a free slot. `live` begins with the queue's active flag
-- and limit; `u` is its team's number. Answers 1 when the queue was not in the ring before.
local function wake(q, u, live, ready_key, inflight_key)
  if live[1] ~= '1' then return 0 end
  if call('LLEN', ready_key) == 0 then return 0 end
  -- A damaged limit counts as 1 everywhere: the queue goes on without overloading its target.
  local max = live[2] and live[2] ~= '' and (tonumber(live[2]) or 1)
  if max and call('ZCARD', inflight_key) >= max then return 0 end
  return call('ZADD', ring_key, 'NX', entry_of(tonumber(u or '') and u or '0'), q)
end
