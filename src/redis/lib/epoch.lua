-- Shared by the steps that a leader sends. Declares `is_superseded`.

-- Whether another epoch than this is known in this shard, so that nothing may change. A later one is another leader's.
-- An earlier one, or none, was there before this began: the shard is an older copy or was emptied, and must not pass
-- for the one that the leader knew. An epoch of '' is none: without leaders there is nobody to be superseded by.
local function is_superseded(key, epoch)
  return epoch ~= '' and call('GET', key) ~= epoch
end
