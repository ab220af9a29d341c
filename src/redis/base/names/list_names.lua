#!lua flags=no-writes
-- list_names: names of one team in this shard, by their bytes, each with its id. `begin` is '-', '(' before the name to
-- start after, or '[' before the name to start with.
-- Answer {name, id or ''…}
local call = redis.call

local names = call('ZRANGE', KEYS.index, ARGV.begin, '+', 'BYLEX', 'LIMIT', 0, ARGV.limit)
if #names == 0 then return {} end
local fields = {}
for i, name in ipairs(names) do fields[i] = ARGV.team .. '/' .. name end
local answer = {}
for i, id in ipairs(call('HMGET', KEYS.ids, unpack(fields))) do
  answer[#answer + 1] = names[i]
  answer[#answer + 1] = id or ''
end
return answer
