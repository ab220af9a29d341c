#!lua flags=no-writes
-- read_crons: states, definitions and newest records of crons, as many as fit into the bytes for definitions, at least one.
-- Answer {state or '' (it does not live here), definition or '', newest record or ''…}, shorter when not all fit
local call = redis.call

local answer, bytes = {}, 0
local bytes_max = tonumber(ARGV.bytesMax)
local crons = ROWS.crons
for i, cron in ipairs(crons) do
  bytes = bytes + call('HSTRLEN', KEYS.cronDefinitions, cron.cronId)
  if i > 1 and bytes > bytes_max then break end
  local state = call('HGET', KEYS.cronStates, cron.cronId)
  answer[#answer + 1] = state or ''
  answer[#answer + 1] = state and call('HGET', KEYS.cronDefinitions, cron.cronId) or ''
  answer[#answer + 1] = state and call('LINDEX', cron.records, 0) or ''
end
return answer
