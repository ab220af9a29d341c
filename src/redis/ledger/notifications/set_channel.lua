#!lua flags=allow-oom
-- set_channel: changes the record of a channel, if nobody has since it was read, notes when to look at it next, and adds a
-- message that ended to the log of the team. Allowed when Redis is full: a message that was sent must not be sent again,
-- and the channels of a team are few.
-- Answer 1 when it is written, 0 when somebody was faster.
local call = redis.call

local record, due = ARGV.record, call('ZSCORE', KEYS.notices, ARGV.member) or ''
local current = call('HGET', KEYS.channelStates, ARGV.channel) or ''
local is_done = current == record
local is_marked = ARGV.seenDue ~= '*' and due ~= ARGV.seenDue
if not is_done and string.match(current, '^%d*') ~= ARGV.version then return 0 end

if ARGV.logEntry ~= '' and call('LINDEX', KEYS.deliveryLog, -1) ~= ARGV.logEntry then
  call('RPUSH', KEYS.deliveryLog, ARGV.logEntry)
  call('LTRIM', KEYS.deliveryLog, -tonumber(ARGV.logMax), -1)
end
if record == '' then
  call('HDEL', KEYS.channelStates, ARGV.channel)
else
  call('HSET', KEYS.channelStates, ARGV.channel, record)
end
-- Whoever marked it since it was looked at has raised something that the look did not see.
if is_marked then return 1 end
if ARGV.dueMs == '' then
  call('ZREM', KEYS.notices, ARGV.member)
else
  call('ZADD', KEYS.notices, ARGV.dueMs, ARGV.member)
end
return 1
