-- Shared by the steps that forget chains. Declares `forget`.

-- Removes a chain's index entry if it still names this queue, and the block when only its owner is left.
local function forget(block, field, q)
  if call('HGET', block, field) ~= q then return end
  call('HDEL', block, field)
  if call('HLEN', block) == 1 then call('DEL', block) end
end
