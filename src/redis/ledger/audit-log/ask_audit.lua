#!lua flags=allow-oom
-- ask_audit: notes that a change outside of Redis is wanted. A page of those whose outcome was never said becomes entries with
-- an unknown one. Without an entry it does only that.
-- Answer: what became entries.
-- Transition: (none) → asked; asked → unknown.
--#include ledger/audit-log/audit_log

local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local closed = {}
local asked = call('HRANDFIELD', KEYS.auditAsked, ARGV.page, 'WITHVALUES')
for i = 1, #asked, 2 do
  local at = tonumber(string.sub(asked[i + 1], 1, 13)) or 0
  if at <= now - tonumber(ARGV.staleMs) then
    AuditLog.add(KEYS.auditLog, KEYS.auditCounts, asked[i + 1], ARGV.auditMax, ARGV.auditMs, 'u')
    call('HDEL', KEYS.auditAsked, asked[i])
    closed[#closed + 1] = asked[i + 1]
  end
end
if ARGV.auditEntry ~= '' then
  call('HSET', KEYS.auditAsked, ARGV.ticket, string.format('%013.0f', now) .. ARGV.auditEntry)
end
return closed
