-- Shared by the steps that check how full Redis is. Declares `Memory`.

local Memory = {}

-- Answers the server's run id, the bytes in use that count against maxmemory, and maxmemory (0 = no limit).
function Memory.read()
  local info = call('INFO', 'server') .. call('INFO', 'memory')
  local function figure(name) return tonumber(string.match(info, '\n' .. name .. ':(%d+)') or '0') end
  local used = figure('used_memory') - figure('mem_not_counted_for_evict')
  return string.match(info, '\nrun_id:(%w+)') or '', used, figure('maxmemory')
end
