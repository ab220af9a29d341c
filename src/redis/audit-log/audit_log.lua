-- Shared by the steps that write the audit log. Declares `AuditLog`. The stream `auditLog` of a team holds who changed what
-- in this shard, `sessionLog` who logged in and out, by the time of Redis: '<outcome><JSON array>' in the field `e`;
-- src/redis/audit-log/audit-entry.ts describes the array. Outcome: d done · r refused · u unknown.

local AuditLog = {}

-- Call it once, after everything that can refuse the change. entry: '' = nobody asked, as when the engine does it itself.
-- most: entries that are kept · kept_ms: for how long. Older ones go with the next entry, and the last with the whole key.
function AuditLog.write(key, entry, most, kept_ms, outcome)
  if entry == '' then return end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  -- Ids only rise, whatever the clock does.
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local at = math.max(now, last and tonumber(string.match(last[1], '^%d+')) or 0)
  redis.call('XADD', key, 'MAXLEN', most, string.format('%.0f-*', at), 'e', (outcome or 'd') .. entry)
  redis.call('XTRIM', key, 'MINID', string.format('%.0f', now - tonumber(kept_ms)))
  redis.call('PEXPIRE', key, kept_ms)
end
