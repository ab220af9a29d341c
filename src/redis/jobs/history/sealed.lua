-- Shared by the steps that change what the budget of finished chains counts. Declares `Sealed`. Wants the keys
-- `sealedHistories`, `shardUsage` and `teamUsage`, and `Blocks`. A queue is a table of its keys with its `localId`.
--
-- `sealedHistories` has a member 'team/queue' for each queue with blocks; its score is the sum of the bytes that the blocks
-- say their summaries have, and BLOCK_BYTES a block, without the bytes of chains that were deleted since, which are in
-- `buried` of the queue. `shardUsage` has the sum of all scores. The team's field ':h' of `teamUsage` has the bytes of
-- summaries alone, of the blocks beyond the newest KEPT_BLOCKS of each queue: these do not count for its quota. Those which
-- the budget may not drop do.
--
-- Nobody knows which blocks had what was buried. When one goes, what was buried of it is what it says it had without what
-- has left it; until then each is taken to have lost as much as any other, but no queue is exempt from more than it has.

-- Redis needs this many bytes for the chains of a block beside their summaries: entries of hash, list and index.
local BLOCK_BYTES = 256 * 96
-- This many blocks hold the 10,000 chains that each queue keeps.
local KEPT_BLOCKS = 40
-- A deleted chain is looked for among as many that no block has yet. There are more only before the first block is sealed.
local UNSEALED_MAX = 4096
local Sealed = {}

local function raise_by(key, field, by)
  if by ~= 0 then call('HINCRBY', key, field, string.format('%.0f', by)) end
end

-- What is counted of a queue: the `number` of its blocks, the bytes `buried`, those `left` in all blocks, and those that the
-- blocks `beyond` the kept ones say they have.
local function count_of(team, queue)
  local number = call('LLEN', queue.blocks)
  local weight = tonumber(call('ZSCORE', KEYS.sealedHistories, team .. '/' .. queue.localId) or '0')
  local known = call('HMGET', queue.meta, QUEUE.buried, QUEUE.beyondKept)
  return {
    number = number,
    buried = tonumber(known[1] or '0'),
    left = weight - number * BLOCK_BYTES,
    beyond = tonumber(known[2] or '0'),
  }
end

local function exempt_bytes(count)
  if count.number <= KEPT_BLOCKS then return 0 end
  local share = math.floor(count.buried * (count.number - KEPT_BLOCKS) / count.number)
  return math.max(0, math.min(count.beyond - share, count.left))
end

local function exempt(team, bytes)
  raise_by(KEYS.teamUsage, team .. TEAM_USAGE.sealed, bytes)
end

local function write(team, queue, old, new)
  local weight = new.left - old.left + (new.number - old.number) * BLOCK_BYTES
  call('ZINCRBY', KEYS.sealedHistories, string.format('%.0f', weight), team .. '/' .. queue.localId)
  raise_by(KEYS.shardUsage, SHARD_USAGE.sealedBytes, weight)
  if new.buried ~= old.buried then call('HSET', queue.meta, QUEUE.buried, string.format('%.0f', new.buried)) end
  if new.beyond ~= old.beyond then call('HSET', queue.meta, QUEUE.beyondKept, string.format('%.0f', new.beyond)) end
  exempt(team, exempt_bytes(new) - exempt_bytes(old))
end

function Sealed.add_newest(team, queue, text)
  local old = count_of(team, queue)
  local number = call('LPUSH', queue.blocks, text)
  local beyond = call('LINDEX', queue.blocks, KEPT_BLOCKS)
  write(team, queue, old, {
    number = number,
    buried = old.buried,
    left = old.left + Blocks.head(text),
    beyond = old.beyond + (beyond and Blocks.head(beyond) or 0),
  })
end

-- seen: bytes of its chains that have left the history since it was sealed.
function Sealed.drop_oldest(team, queue, seen)
  local old = count_of(team, queue)
  local bytes = Blocks.head(call('RPOP', queue.blocks))
  -- What a block no longer accounts for must have been in other blocks.
  local gone = math.min(bytes, math.max(0, bytes - old.left, math.min(bytes - seen, old.buried)))
  write(team, queue, old, {
    number = old.number - 1,
    buried = old.buried - gone,
    left = old.left - bytes + gone,
    beyond = old.number > KEPT_BLOCKS and old.beyond - bytes or 0,
  })
end

-- Called when a finished chain was deleted: the budget and the quota of its team no longer count it, if a block did.
function Sealed.bury(team, queue, root, bytes)
  if not team or call('LLEN', queue.blocks) == 0 then return end
  local look = Blocks.look(queue)
  local unsealed = look.stop - (look.first + look.sealed) * 256
  if not look.fits or unsealed > UNSEALED_MAX then return end
  if unsealed > 0 and call('LPOS', queue.history, root, 'MAXLEN', unsealed) then return end
  local old = count_of(team, queue)
  local lost = math.max(0, math.min(bytes, old.left))
  write(team, queue, old, {
    number = old.number,
    buried = old.buried + lost,
    left = old.left - lost,
    beyond = old.beyond,
  })
end

-- Drops all blocks of a queue; its chains stay and are sealed again later.
function Sealed.drop_blocks(team, queue)
  local member = team .. '/' .. queue.localId
  local weight = call('ZSCORE', KEYS.sealedHistories, member)
  if weight then
    exempt(team, -exempt_bytes(count_of(team, queue)))
    raise_by(KEYS.shardUsage, SHARD_USAGE.sealedBytes, -tonumber(weight))
    call('ZREM', KEYS.sealedHistories, member)
  end
  call('HDEL', queue.meta, QUEUE.buried, QUEUE.beyondKept, QUEUE.departed)
  call('UNLINK', queue.blocks)
end
