-- Shared by the steps that end jobs. Declares `release_settings` and `release_settings_of`. Wants `Record`.

-- Lowers the count of uses of a settings version; at 0 both fields go.
local function release_settings(hash, count)
  if call('HINCRBY', KEYS.settingsUses, hash, -count) <= 0 then
    call('HDEL', KEYS.settingsUses, hash)
    call('HDEL', KEYS.settings, hash)
  end
end

-- For a record that is removed. A damaged record does not say which settings it used: they stay for good, and
-- `unknownSettings` counts at most how many.
local function release_settings_of(body)
  if Record.is_sound(body) then
    release_settings(string.sub(body, 20, 30), 1)
  else
    call('HINCRBY', KEYS.shardUsage, SHARD_USAGE.unknownSettings, 1)
  end
end
