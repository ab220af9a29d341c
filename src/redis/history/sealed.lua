-- Shared by the steps that change what the budget of finished chains counts. Declares `Sealed`. Wants the keys
-- `sealedHistories`, `shardUsage` and `teamUsage`, and `Blocks`. A queue is a table of its keys with its `localId`.
--
-- `sealedHistories` has a member 'team/queue' for each queue with blocks; its score is the sum of the bytes that the blocks
-- say their summaries have, and BLOCK_BYTES a block, without the bytes of chains that were deleted since, which are in
-- `buried` of the queue. `shardUsage` has the sum of all scores. The team's field ':h' of `teamUsage` has the bytes of
-- summaries alone, of the blocks beyond the newest KEPT_BLOCKS of each queue: these do not count for its quota. Those which
-- the budget may not drop do.

-- What Redis needs for the chains of a block beside their summaries: entries of hash, list and index.
local BLOCK_BYTES = 256 * 96
-- Enough for the 10,000 chains that each queue keeps.
local KEPT_BLOCKS = 40
-- A deleted chain is looked for among as many that no block has yet. There are more only before the first block is sealed.
local UNSEALED_MAX = 4096
local Sealed = {}

local function raise_by(key, field, by)
  if by ~= 0 then call('HINCRBY', key, field, string.format('%.0f', by)) end
end

local function weigh(team, queue, weight)
  call('ZINCRBY', KEYS.sealedHistories, string.format('%.0f', weight), team .. '/' .. queue.localId)
  raise_by(KEYS.shardUsage, SHARD_USAGE.sealedBytes, weight)
end

local function buried_in(queue)
  return tonumber(call('HGET', queue.meta, QUEUE.buried) or '0')
end

-- How much of what was buried counts as of blocks beyond the kept ones: nobody knows which blocks had it.
local function beyond_of(buried, blocks)
  if blocks <= KEPT_BLOCKS then return 0 end
  return math.floor(buried * (blocks - KEPT_BLOCKS) / blocks)
end

local function exempt(team, bytes)
  raise_by(KEYS.teamUsage, team .. TEAM_USAGE.sealed, bytes)
end

function Sealed.add_newest(team, queue, text)
  local blocks = call('LPUSH', queue.blocks, text)
  local buried = buried_in(queue)
  weigh(team, queue, Blocks.head(text) + BLOCK_BYTES)
  local beyond = call('LINDEX', queue.blocks, KEPT_BLOCKS)
  local bytes = beyond and Blocks.head(beyond) or 0
  exempt(team, bytes - beyond_of(buried, blocks) + beyond_of(buried, blocks - 1))
end

-- It takes its part of what was buried with it.
function Sealed.drop_oldest(team, queue)
  local blocks = call('LLEN', queue.blocks)
  local bytes = Blocks.head(call('RPOP', queue.blocks))
  local buried = buried_in(queue)
  local gone = math.min(bytes, math.ceil(buried / blocks))
  if gone > 0 then call('HINCRBY', queue.meta, QUEUE.buried, -gone) end
  weigh(team, queue, gone - bytes - BLOCK_BYTES)
  local beyond = blocks > KEPT_BLOCKS and bytes or 0
  exempt(team, beyond_of(buried, blocks) - beyond_of(buried - gone, blocks - 1) - beyond)
end

-- A finished chain was deleted: the budget and the quota of its team count it no more, if a block counts it.
function Sealed.bury(team, queue, root, bytes)
  local blocks = call('LLEN', queue.blocks)
  if not team or blocks == 0 then return end
  local look = Blocks.look(queue)
  local unsealed = look.stop - (look.first + look.sealed) * 256
  if not look.fits or unsealed > UNSEALED_MAX then return end
  if unsealed > 0 and call('LPOS', queue.history, root, 'MAXLEN', unsealed) then return end
  local buried = call('HINCRBY', queue.meta, QUEUE.buried, bytes)
  weigh(team, queue, -bytes)
  exempt(team, beyond_of(buried - bytes, blocks) - beyond_of(buried, blocks))
end

-- Drops all blocks of a queue; its chains stay and are sealed again later.
function Sealed.drop_blocks(team, queue)
  local weight = call('ZSCORE', KEYS.sealedHistories, team .. '/' .. queue.localId)
  if weight then
    local blocks = call('LLEN', queue.blocks)
    raise_by(KEYS.shardUsage, SHARD_USAGE.sealedBytes, -tonumber(weight))
    if blocks > KEPT_BLOCKS then
      local buried = buried_in(queue)
      local beyond = tonumber(weight) - blocks * BLOCK_BYTES + buried
      for _, text in ipairs(call('LRANGE', queue.blocks, 0, KEPT_BLOCKS - 1)) do
        beyond = beyond - Blocks.head(text)
      end
      exempt(team, beyond_of(buried, blocks) - beyond)
    end
    call('ZREM', KEYS.sealedHistories, team .. '/' .. queue.localId)
  end
  call('HDEL', queue.meta, QUEUE.buried)
  call('UNLINK', queue.blocks)
end
