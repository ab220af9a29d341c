#!lua flags=allow-oom
-- mark_channels: makes channels due now. The score of each changes even if it is due already, so that whoever has looked
-- at it before does not put it off.
-- Answer 1.
local call = redis.call

local now = tonumber(ARGV.nowMs)
local members = ROWS.members
for _, member in ipairs(members) do
  local due = tonumber(call('ZSCORE', KEYS.notices, member.member) or '')
  call('ZADD', KEYS.notices, due and due <= now and math.max(now, due + 1) or now, member.member)
end
return 1
