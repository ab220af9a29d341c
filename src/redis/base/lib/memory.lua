-- Shared by the steps that check how full Redis is. Declares `Memory`.

local Memory = {}

local function figure(info, name) return tonumber(string.match(info, '\n' .. name .. ':(%d+)') or '0') end

-- Answers the bytes in use that count against maxmemory, and maxmemory (0 = no limit).
function Memory.used()
  local info = call('INFO', 'memory')
  return figure(info, 'used_memory') - figure(info, 'mem_not_counted_for_evict'), figure(info, 'maxmemory')
end

-- Answers the server's run id before these.
function Memory.read()
  return string.match(call('INFO', 'server'), '\nrun_id:(%w+)') or '', Memory.used()
end
