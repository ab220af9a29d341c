#!lua flags=no-writes
-- list_names: names of one team in this shard, in the order of their bytes, each with its id.
-- KEYS  1 qn:<team> or kn:<team>  2 names or kn
-- ARGV  team, where it begins ('-', '(' and a name to come after, '[' and one to begin with), names at most
-- Answer {name, id or ''…}
local call = redis.call

local names = call('ZRANGE', KEYS[1], ARGV[2], '+', 'BYLEX', 'LIMIT', 0, ARGV[3])
if #names == 0 then return {} end
local fields = {}
for i, name in ipairs(names) do fields[i] = ARGV[1] .. '/' .. name end
local answer = {}
for i, id in ipairs(call('HMGET', KEYS[2], unpack(fields))) do
  answer[#answer + 1] = names[i]
  answer[#answer + 1] = id or ''
end
return answer
