#!lua flags=allow-oom
-- empty_trash: forgets a page of a deleted queue's remains, with index entries and settings counts.
-- KEYS  1 gc  2 set  3 setn  4 trash b  5 trash d  6 trash xb  7 trash p  then ix:<block> × blocks
-- ARGV  local queue id, (kind b|d|x, job id, block index, index field)…
-- Answer 1 while something is left, 0 when the trash is gone.
local call = redis.call
--#include index

local q, kinds = ARGV[1], { b = KEYS[4], d = KEYS[5], x = KEYS[6] }
for i = 2, #ARGV, 4 do
  local key, id = kinds[ARGV[i]], ARGV[i + 1]
  local body = call('HGET', key, id)
  if body then
    if ARGV[i] == 'b' then
      local hash = string.sub(body, 20, 30)
      if call('HINCRBY', KEYS[3], hash, -1) <= 0 then
        call('HDEL', KEYS[3], hash)
        call('HDEL', KEYS[2], hash)
      end
    end
    forget(KEYS[7 + tonumber(ARGV[i + 2])], ARGV[i + 3], q)
    call('HDEL', key, id)
  end
end
if call('EXISTS', KEYS[4], KEYS[5], KEYS[6]) > 0 then return 1 end
call('UNLINK', KEYS[7])
call('ZREM', KEYS[1], 't' .. q)
return 0
