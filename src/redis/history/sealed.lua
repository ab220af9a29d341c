-- Shared by the steps that make and drop blocks. Declares `Sealed`: what the budget of finished chains counts. Wants the
-- keys `blocks`, `sealedHistories`, `shardUsage` and `teamUsage`.
--
-- `sealedHistories` has a member 'team/queue' for each queue with blocks; its score is the sum of the bytes of the blocks'
-- summaries, and BLOCK_BYTES a block. `shardUsage` has the sum of all scores. The team's field ':h' of `teamUsage` has the
-- bytes of summaries alone: these do not count for its quota.

-- What Redis needs for the chains of a block beside their summaries: entries of hash, list and index.
local BLOCK_BYTES = 256 * 96
local Sealed = {}

local function raise_by(key, field, by)
  if by ~= 0 then call('HINCRBY', key, field, string.format('%.0f', by)) end
end

function Sealed.count_blocks(team, id, bytes, blocks)
  local weight = bytes + blocks * BLOCK_BYTES
  call('ZINCRBY', KEYS.sealedHistories, string.format('%.0f', weight), team .. '/' .. id)
  raise_by(KEYS.shardUsage, SHARD_USAGE.sealedBytes, weight)
  raise_by(KEYS.teamUsage, team .. TEAM_USAGE.sealed, bytes)
end

-- Drops all blocks of a queue; its chains stay and are sealed again later.
function Sealed.drop_blocks(team, id)
  local weight = call('ZSCORE', KEYS.sealedHistories, team .. '/' .. id)
  if weight then
    raise_by(KEYS.shardUsage, SHARD_USAGE.sealedBytes, -tonumber(weight))
    raise_by(KEYS.teamUsage, team .. TEAM_USAGE.sealed, call('LLEN', KEYS.blocks) * BLOCK_BYTES - tonumber(weight))
    call('ZREM', KEYS.sealedHistories, team .. '/' .. id)
  end
  call('UNLINK', KEYS.blocks)
end
