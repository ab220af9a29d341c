#!lua flags=allow-oom
-- end_session: removes one session of a subject, or all of them.
-- Answer: 1.
--#include control/sessions/session_record
local call = redis.call

if ARGV.session == '' then call('UNLINK', KEYS.sessions)
else call('HDEL', KEYS.sessions, ARGV.session, SessionRecord.origin(ARGV.session)) end
return 1
