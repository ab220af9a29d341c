#!lua flags=allow-oom
-- trim: forgets finished chains from the old end of the history, and the blocks of which nothing is left, unless either
-- end of what the caller saw has changed.
-- Answer: chains forgotten; 0 when the history has changed.
local call = redis.call
--#include ledger/retention/forget
--#include base/lib/usage
--#include jobs/history/blocks
--#include jobs/history/sealed

local queue = { localId = ARGV.localId, meta = KEYS.meta, history = KEYS.history, blocks = KEYS.blocks }
local known = call('HMGET', KEYS.meta, QUEUE.name, QUEUE.tombstones, QUEUE.departed)
local team = Usage.team_of(known[1])
-- From the newest to the oldest.
local chains = ROWS.chains
local count = #chains
if call('LINDEX', KEYS.history, -1) ~= chains[count].root or call('LINDEX', KEYS.history, -count) ~= chains[1].root then
  return 0
end
local look = Blocks.look(queue)
-- Bytes that leave each block, the oldest first.
local seen = { tonumber(known[3] or '0') }
local roots, bytes = {}, 0
for i, chain in ipairs(chains) do
  roots[i] = chain.root
  local size = call('HSTRLEN', KEYS.summaries, chain.root)
  local place = math.floor((look.trimmed + count - i) / 256) - look.first + 1
  seen[place] = (seen[place] or 0) + size
  bytes = bytes + size
  forget(chain.jobIndex, chain.field, ARGV.localId)
end
call('HDEL', KEYS.summaries, unpack(roots))
call('LTRIM', KEYS.history, 0, -count - 1)
Usage.note(team, -bytes, 0, 0)
Usage.write(KEYS.teamUsage)
if not team then return count end
call('HINCRBY', KEYS.meta, QUEUE.trimmed, count)

-- Every id without a summary is a tombstone, and only the history knows how many of them have gone.
local tombstones = tonumber(known[2] or '0')
local left = call('LLEN', KEYS.history) - call('HLEN', KEYS.summaries)
if left <= 0 and tombstones > 0 then
  call('HDEL', KEYS.meta, QUEUE.tombstones)
elseif left < tombstones then
  call('HSET', KEYS.meta, QUEUE.tombstones, left)
end

if look.sealed == 0 then return count end
if look.fits then
  local gone = math.min(look.sealed, math.floor((look.trimmed + count) / 256) - look.first)
  for place = 1, gone do Sealed.drop_oldest(team, queue, seen[place] or 0) end
  call('HSET', KEYS.meta, QUEUE.departed, string.format('%.0f', seen[gone + 1] or 0))
  if gone == look.sealed then Sealed.drop_blocks(team, queue) end
else
  Sealed.drop_blocks(team, queue)
end
return count
