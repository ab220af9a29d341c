#!lua flags=no-writes
-- read_tallies: reads the statistics of a queue or team since a minute at one moment: settled cells, and the open tallies
-- of minutes. It reads pages of cells from the young end back to one that begins before `since`.
-- Answer {{the cells of a page, with a space between each two…}, {open tally or '' of each minute…}}
local call = redis.call

local since, size = tonumber(ARGV.since), tonumber(ARGV.page)
local pages, open = {}, {}
local last, is_end = -1, false
while not is_end do
  local page = call('LRANGE', KEYS.settledTallies, last - size + 1, last)
  if #page > 0 then pages[#pages + 1] = table.concat(page, ' ') end
  last = last - size
  is_end = #page < size or (tonumber(string.sub(page[1], 1, 5), 36) or since) < since
end
for i = arg_at + 1, #ARGV do open[#open + 1] = call('HGET', KEYS.openTallies, ARGV[i]) or '' end
return { pages, open }
