#!lua flags=allow-oom
-- use_session: reads a session and notes its use, once a minute at most; one that has ended is removed.
-- Answer: { created, end of its idle time, end, what it stands for }, or false when there is none.
--#include control/sessions/session_record
local call = redis.call

local now = SessionRecord.now()
local record = call('HGET', KEYS.sessions, ARGV.session)
if not record then return false end
local idle = tonumber(ARGV.idleMs)
local created, used, ends, sealed = SessionRecord.open(record, now, idle)
if not created then
  call('HDEL', KEYS.sessions, ARGV.session, SessionRecord.origin(ARGV.session))
  return false
end
if now - tonumber(used) >= tonumber(ARGV.noteMs) then
  call('HSET', KEYS.sessions, ARGV.session, SessionRecord.text(created, now, ends, sealed))
  used = now
end
return { created, string.format('%.0f', used + idle), ends, sealed }
