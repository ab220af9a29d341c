#!lua
-- resume_part: lets the part of a bulk that was aborted go on at its place, due at once. resumes: how often the bulk has
-- been resumed. A part is resumed once for each of these times, so that a late message does not undo a later abort.
-- Answer 1 when it goes on, else 0.
-- Transition: aborted → running.
local call = redis.call

local known = call('HMGET', KEYS.part, BULK_PART.state, BULK_PART.resumes)
if known[1] ~= 'aborted' or tonumber(known[2] or '0') >= tonumber(ARGV.resumes) then return 0 end
call('ZADD', KEYS.bulksDue, ARGV.dueMs, ARGV.member)
call('HINCRBY', KEYS.part, BULK_PART.version, 1)
call('HSET', KEYS.part, BULK_PART.state, 'running', BULK_PART.resumes, ARGV.resumes)
call('EXPIRE', KEYS.part, ARGV.keepSeconds)
return 1
