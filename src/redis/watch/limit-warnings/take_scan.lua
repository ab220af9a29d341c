#!lua flags=allow-oom
-- take_scan: lets one of several executors take the scan of a minute, and forgets queues that have not failed for long.
-- Answer 1 when the last scan is still the one that the sender saw, else 0. Sent again, it answers 0, and the next
--       minute is scanned.
local call = redis.call

if (call('HGET', KEYS.limitWarnings, ARGV.field) or '') ~= ARGV.seen then return 0 end
call('HSET', KEYS.limitWarnings, ARGV.field, ARGV.next)
call('ZREMRANGEBYSCORE', KEYS.failingQueues, '-inf', ARGV.forgetBeforeMs)
return 1
