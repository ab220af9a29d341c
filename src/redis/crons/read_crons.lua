#!lua flags=no-writes
-- read_crons: what crons are and how they stand, as far as their definitions fit; at least one.
-- KEYS  1 ks  2 kd, then kr:<cron> × crons
-- ARGV  bytes of definitions at most, crons, cron id…
-- Answer {state or '' (it is not here), definition or '', newest record or ''…}, shorter when not all fit
local call = redis.call

local answer, bytes = {}, 0
local bytes_max, count = tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 1, count do
  local id = ARGV[2 + i]
  bytes = bytes + call('HSTRLEN', KEYS[2], id)
  if i > 1 and bytes > bytes_max then break end
  local state = call('HGET', KEYS[1], id)
  answer[#answer + 1] = state or ''
  answer[#answer + 1] = state and call('HGET', KEYS[2], id) or ''
  answer[#answer + 1] = state and call('LINDEX', KEYS[2 + i], 0) or ''
end
return answer
