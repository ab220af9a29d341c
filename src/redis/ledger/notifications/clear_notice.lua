#!lua flags=allow-oom
-- clear_notice: removes the notice that something was raised for a team, unless more was raised since the version was read.
-- Answer 1 when removed, else 0.
local call = redis.call

if (call('HGET', KEYS.alertCounts, ALERT_COUNTS.version) or '') ~= ARGV.version then return 0 end
call('ZREM', KEYS.notices, ARGV.team)
return 1
