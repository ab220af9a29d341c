#!lua flags=allow-oom
-- take_code: takes a code that logs in once. Whoever took it may ask again, because an answer may be lost; others may not.
-- Answer: 1; 0 when there is no such code, or somebody else took it.
-- Transition: created → taken.
local call = redis.call

local code = call('HMGET', KEYS.loginCode, 's', 't')
if not code[1] or (code[2] and code[2] ~= ARGV.taker) then return 0 end
call('HSET', KEYS.loginCode, 't', ARGV.taker)
return 1
