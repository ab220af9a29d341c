#!lua flags=no-writes
-- read_tallies: reads the statistics of a queue or team at one moment: the cells of periods, and the open tallies of
-- minutes.
-- Answer {{cells of each period or ''…}, {open tally or '' of each minute…}}
local call = redis.call

local periods = ROWS.periods
local cells, open = {}, {}
for i, period in ipairs(periods) do cells[i] = call('HGET', period.settledTallies, ARGV.owner) or '' end
for i = arg_at + 1, #ARGV do open[#open + 1] = call('HGET', KEYS.openTallies, ARGV[i] .. ARGV.owner) or '' end
return { cells, open }
