-- Shared by the steps that change a hash of compiled settings. Declares `begin_change`.

-- The version of the next change of a hash, and the value of a field that is to change. nil when the hash knows a later
-- leader epoch, so that the caller may change nothing; one that is the latest is noted. The epoch '' belongs to an
-- installation without leaders, where nothing supersedes anything.
local function begin_change(key, epoch, field)
  local known = call('HMGET', key, COMPILED.epoch, COMPILED.version, field)
  if epoch ~= '' then
    local highest = tonumber(known[1] or '0')
    if highest > tonumber(epoch) then return nil end
    if highest < tonumber(epoch) then call('HSET', key, COMPILED.epoch, epoch) end
  end
  return string.format('%.0f', tonumber(known[2] or '0') + 1), known[3]
end
