-- Shared by the steps that a leader sends. Declares `is_superseded`.

-- Whether a later leader's term is known in this shard, so that nothing may change. A shard that has not heard of this
-- term yet learns it. A term of '' is none: without leaders there is nobody to be superseded by.
local function is_superseded(key, term)
  if term == '' then return false end
  local known = tonumber(call('GET', key) or '0')
  if known < tonumber(term) then call('SET', key, term) end
  return known > tonumber(term)
end
