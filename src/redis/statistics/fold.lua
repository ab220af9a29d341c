#!lua flags=allow-oom
-- fold: changes tallies of statistics, and cuts from the log what they now contain. Only one of several processes that
-- read the same version may. `settled` are tallies of minutes that are over: each moves from the open ones to its
-- period. `watched` are queues that are counted in every minute from now on, or no longer.
-- Answer 1, or 0 when the version is another by now. Sent again, it answers 0 and changes nothing.
local call = redis.call

if (call('HGET', KEYS.statistics, STATISTICS.version) or '0') ~= ARGV.version then return 0 end

local open = ROWS.open
local settled = ROWS.settled
local watched = ROWS.watched

for _, cell in ipairs(settled) do
  -- Read here: two minutes of one owner may be settled together.
  call('HSET', cell.settledTallies, cell.owner, (call('HGET', cell.settledTallies, cell.owner) or '') .. cell.text)
  call('EXPIREAT', cell.settledTallies, cell.expiresAt)
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
