-- Shared by the steps that make and drop blocks. Declares `Sealed`: what the budget of finished chains counts. Wants the
-- keys `blocks`, `sealedHistories`, `shardUsage` and `teamUsage`, and `Blocks`.
--
-- `sealedHistories` has a member 'team/queue' for each queue with blocks; its score is the sum of the bytes of the blocks'
-- summaries, and BLOCK_BYTES a block. `shardUsage` has the sum of all scores. The team's field ':h' of `teamUsage` has the
-- bytes of summaries alone, of the blocks beyond the newest KEPT_BLOCKS of each queue: these do not count for its quota. Those
-- which the budget may not drop do.

-- What Redis needs for the chains of a block beside their summaries: entries of hash, list and index.
local BLOCK_BYTES = 256 * 96
-- Enough for the 10,000 chains that each queue keeps.
local KEPT_BLOCKS = 40
local Sealed = {}

local function raise_by(key, field, by)
  if by ~= 0 then call('HINCRBY', key, field, string.format('%.0f', by)) end
end

local function weigh(team, id, bytes, blocks)
  local weight = bytes + blocks * BLOCK_BYTES
  call('ZINCRBY', KEYS.sealedHistories, string.format('%.0f', weight), team .. '/' .. id)
  raise_by(KEYS.shardUsage, SHARD_USAGE.sealedBytes, weight)
end

function Sealed.add_newest(team, id, text)
  call('LPUSH', KEYS.blocks, text)
  weigh(team, id, Blocks.head(text), 1)
  local beyond = call('LINDEX', KEYS.blocks, KEPT_BLOCKS)
  if beyond then raise_by(KEYS.teamUsage, team .. TEAM_USAGE.sealed, (Blocks.head(beyond))) end
end

function Sealed.drop_oldest(team, id)
  local is_beyond = call('LLEN', KEYS.blocks) > KEPT_BLOCKS
  local bytes = Blocks.head(call('RPOP', KEYS.blocks))
  weigh(team, id, -bytes, -1)
  if is_beyond then raise_by(KEYS.teamUsage, team .. TEAM_USAGE.sealed, -bytes) end
end

-- Drops all blocks of a queue; its chains stay and are sealed again later.
function Sealed.drop_blocks(team, id)
  local weight = call('ZSCORE', KEYS.sealedHistories, team .. '/' .. id)
  if weight then
    local blocks = call('LLEN', KEYS.blocks)
    raise_by(KEYS.shardUsage, SHARD_USAGE.sealedBytes, -tonumber(weight))
    if blocks > KEPT_BLOCKS then
      local beyond = tonumber(weight) - blocks * BLOCK_BYTES
      for _, text in ipairs(call('LRANGE', KEYS.blocks, 0, KEPT_BLOCKS - 1)) do
        beyond = beyond - Blocks.head(text)
      end
      raise_by(KEYS.teamUsage, team .. TEAM_USAGE.sealed, -beyond)
    end
    call('ZREM', KEYS.sealedHistories, team .. '/' .. id)
  end
  call('UNLINK', KEYS.blocks)
end
