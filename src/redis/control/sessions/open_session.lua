#!lua
-- open_session: adds a session to those of its subject. Ended ones go, and of too many those unused for longest.
-- Answer: { created, end }.
--#include control/sessions/session_record
local call = redis.call

local now = SessionRecord.now()
local idle, most = tonumber(ARGV.idleMs), tonumber(ARGV.sessionsMax)
local gone, kept, origins = {}, {}, {}
local stored = call('HGETALL', KEYS.sessions)
for i = 1, #stored, 2 do
  local field = stored[i]
  local created, used = SessionRecord.open(stored[i + 1], now, idle)
  if SessionRecord.of_origin(field) then origins[#origins + 1] = field
  elseif not created then gone[#gone + 1] = field
  elseif field ~= ARGV.session then kept[#kept + 1] = string.format('%013.0f', used) .. field end
end
table.sort(kept)
local stays = {}
stays[ARGV.session] = true
for i = 1, #kept do
  local field = string.sub(kept[i], 14)
  if i <= #kept - most + 1 then gone[#gone + 1] = field else stays[field] = true end
end
for i = 1, #origins do
  if not stays[SessionRecord.of_origin(origins[i])] then gone[#gone + 1] = origins[i] end
end
local ends = now + tonumber(ARGV.lifeMs)
if #gone > 0 then call('HDEL', KEYS.sessions, unpack(gone)) end
call('HSET', KEYS.sessions, SessionRecord.origin(ARGV.session), ARGV.origin)
call('HSET', KEYS.sessions, ARGV.session, SessionRecord.text(now, now, ends, ARGV.sealed))
call('PEXPIRE', KEYS.sessions, ARGV.lifeMs)
return { string.format('%.0f', now), string.format('%.0f', ends) }
