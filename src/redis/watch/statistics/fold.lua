#!lua flags=allow-oom
-- fold: changes tallies of statistics, and cuts from the log what they now contain. Only one of several processes that
-- read the same version may. `settled` are tallies of minutes that are over: each moves from the open ones to the cells of
-- its queue or team, and pushes out those of minutes before `since`. `watched` are queues that are counted in every minute
-- from now on, or no longer.
-- Answer 1, or 0 when the version is another by now. Sent again, it answers 0 and changes nothing.
local call = redis.call

if (call('HGET', KEYS.statistics, STATISTICS.version) or '0') ~= ARGV.version then return 0 end

local open = ROWS.open
local settled = ROWS.settled
local watched = ROWS.watched

local since, cells_max = tonumber(ARGV.since), tonumber(ARGV.cellsMax)

-- A damaged cell counts as past, and makes room.
local function is_past(cell)
  return cell and (tonumber(string.sub(cell, 1, 5), 36) or 0) < since
end

-- How many cells to cut from the old end. Cells are in order but for a few, so this looks at few of them: twice as far
-- each time. It may leave half of those that are past to the next call.
local function past_cells(key)
  local seen = 0
  while is_past(call('LINDEX', key, 2 * seen)) do seen = 2 * seen + 1 end
  return seen
end

for _, cell in ipairs(settled) do
  local count = call('RPUSH', cell.settledTallies, cell.text)
  local cut = math.max(past_cells(cell.settledTallies), count - cells_max)
  if cut > 0 then call('LTRIM', cell.settledTallies, cut, -1) end
  call('EXPIREAT', cell.settledTallies, ARGV.expiresAt)
  call('HDEL', KEYS.openTallies, cell.field)
end
for _, tally in ipairs(open) do call('HSET', KEYS.openTallies, tally.field, tally.text) end
for _, queue in ipairs(watched) do
  if queue.isWatched == '1' then
    call('SADD', KEYS.sampledQueues, queue.localId)
  else
    call('SREM', KEYS.sampledQueues, queue.localId)
  end
end
if ARGV.entries ~= '0' then call('LTRIM', KEYS.statisticsLog, ARGV.entries, -1) end
if ARGV.sampledMinute ~= '' then call('HSET', KEYS.statistics, STATISTICS.sampledMinute, ARGV.sampledMinute) end
call('HSET', KEYS.statistics, STATISTICS.version, string.format('%.0f', tonumber(ARGV.version) + 1))
return 1
