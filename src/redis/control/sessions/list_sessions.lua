#!lua flags=no-writes
-- list_sessions: reads the open sessions of a subject, without what they stand for.
-- Answer: rows of { session, created, used, end, where it was opened or '' }, in any order.
--#include control/sessions/session_record
local call = redis.call

local now = SessionRecord.now()
local idle = tonumber(ARGV.idleMs)
local stored, values, rows = call('HGETALL', KEYS.sessions), {}, {}
for i = 1, #stored, 2 do values[stored[i]] = stored[i + 1] end
for field, value in pairs(values) do
  local created, used, ends = SessionRecord.open(value, now, idle)
  if created and not SessionRecord.of_origin(field) then
    rows[#rows + 1] = { field, created, used, ends, values[SessionRecord.origin(field)] or '' }
  end
end
return rows
