-- Shared by the steps that a leader sends. Declares `is_superseded`.

-- Whether the caller's epoch is not the one of this shard, so that the caller may change nothing. A later epoch belongs to
-- another leader. An earlier or missing one means that the shard is an older copy or was emptied, and is not the data
-- that the leader knows. The epoch '' belongs to an installation without leaders, where nothing supersedes anything.
local function is_superseded(key, epoch)
  return epoch ~= '' and call('GET', key) ~= epoch
end
