-- Shared by the steps that look how full Redis is. Declares `Memory`.

local Memory = {}

-- The id of the server's run, the bytes in use as they count against maxmemory, and maxmemory, 0 = no limit.
function Memory.read()
  local info = call('INFO', 'server') .. call('INFO', 'memory')
  local function figure(name) return tonumber(string.match(info, '\n' .. name .. ':(%d+)') or '0') end
  local used = figure('used_memory') - figure('mem_not_counted_for_evict')
  return string.match(info, '\nrun_id:(%w+)') or '', used, figure('maxmemory')
end
