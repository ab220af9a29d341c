#!lua flags=no-writes
-- read_hours: reads the statistics of queues since a minute at one moment: of each the newest cells, at most so many, and
-- its open tallies of the minutes that are named. Most queues are idle, and their newest cell says so.
-- Answer {{cells with a space between each two, open tally or '' of each minute…} of each queue…}
local call = redis.call

local queues = ROWS.queues
local since, from = tonumber(ARGV.since), -tonumber(ARGV.cells)
local rows = {}
for i, queue in ipairs(queues) do
  local newest = call('LINDEX', queue.settledTallies, -1)
  local is_recent = newest and (tonumber(string.sub(newest, 1, 5), 36) or 0) >= since
  local row = { is_recent and table.concat(call('LRANGE', queue.settledTallies, from, -1), ' ') or '' }
  for at = arg_at + 1, #ARGV do
    row[#row + 1] = call('HGET', KEYS.openTallies, ARGV[at] .. '.' .. queue.owner) or ''
  end
  rows[i] = row
end
return rows
