#!lua
-- open_session: adds a session to those of its subject. Ended ones go, and of too many those unused for longest.
-- Answer: { created, end }.
--#include control/sessions/session_record
local call = redis.call

local now = SessionRecord.now()
local idle, most = tonumber(ARGV.idleMs), tonumber(ARGV.sessionsMax)
local gone, kept = {}, {}
local stored = call('HGETALL', KEYS.sessions)
for i = 1, #stored, 2 do
  local created, used = SessionRecord.open(stored[i + 1], now, idle)
  if not created then gone[#gone + 1] = stored[i]
  elseif stored[i] ~= ARGV.session then kept[#kept + 1] = string.format('%013.0f', used) .. stored[i] end
end
table.sort(kept)
for i = 1, #kept - most + 1 do gone[#gone + 1] = string.sub(kept[i], 14) end
local ends = now + tonumber(ARGV.lifeMs)
if #gone > 0 then call('HDEL', KEYS.sessions, unpack(gone)) end
call('HSET', KEYS.sessions, ARGV.session, SessionRecord.text(now, now, ends, ARGV.sealed))
call('PEXPIRE', KEYS.sessions, ARGV.lifeMs)
return { string.format('%.0f', now), string.format('%.0f', ends) }
