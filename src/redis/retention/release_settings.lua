-- Shared by the steps that end jobs. Declares `release_settings`. Wants `Record`.

-- Lowers the count of uses of a record's settings, as the record goes; at 0 both fields go. Which settings a damaged
-- record used nobody knows: they stay for good, and `use` counts how many do so at most.
local function release_settings(body, keys)
  if not Record.is_sound(body) then
    call('HINCRBY', keys.use, 'unknown_settings', 1)
    return
  end
  local hash = string.sub(body, 20, 30)
  if call('HINCRBY', keys.setn, hash, -1) <= 0 then
    call('HDEL', keys.setn, hash)
    call('HDEL', keys.set, hash)
  end
end
