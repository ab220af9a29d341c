-- Shared by the steps that somebody asks for. Declares `AuditLog`. The list `auditLog` of a team holds who changed what in
-- this shard, newest first: '<13 digits of Unix ms>|<JSON array>'; src/redis/audit-log/audit-entry.ts describes the array.

local AuditLog = {}

-- Call it once, after everything that can refuse the change. entry: '' = nobody asked, as when the engine does it itself.
function AuditLog.write(key, entry, most)
  if entry == '' then return end
  local time = redis.call('TIME')
  local at = string.format('%013.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  redis.call('LPUSH', key, at .. '|' .. entry)
  redis.call('LTRIM', key, 0, tonumber(most) - 1)
end
