#!lua
-- create_code: stores what a code that logs in once stands for, sealed.
-- Answer: when it ends, Unix ms.
local call = redis.call

local time = call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV.lifeMs)
call('HSET', KEYS.loginCode, 's', ARGV.sealed)
call('PEXPIRE', KEYS.loginCode, ARGV.lifeMs)
return string.format('%.0f', ends)
