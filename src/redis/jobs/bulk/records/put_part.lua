#!lua
-- put_part: makes the part of a bulk in this shard, due at once. Sent twice, done once; a part that has ended stays as it is.
-- Answer 1 when it was made.
-- Transition: (none) → running.
local call = redis.call

if call('EXISTS', KEYS.part) == 1 then return 0 end
call('ZADD', KEYS.bulksDue, ARGV.dueMs, ARGV.member)
call('HSET', KEYS.part, BULK_PART.version, 1, BULK_PART.state, 'running', BULK_PART.place, '', BULK_PART.ids, ARGV.ids,
  BULK_PART.done, 0, BULK_PART.skipped, 0, BULK_PART.failed, 0)
call('EXPIRE', KEYS.part, ARGV.keepSeconds)
return 1
