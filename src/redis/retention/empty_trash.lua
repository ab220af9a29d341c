#!lua flags=allow-oom
-- empty_trash: forgets a page of a deleted queue's remains, with index entries and settings counts.
-- KEYS  1 gc  2 set  3 setn  4 trash b  5 trash d  6 trash xb  7 trash p  8 tu  9 use  then ix:<block> × blocks
-- ARGV  local queue id, shards, (kind b|d|x, job id, block index, index field)…
-- Answer 1 while something is left, 0 when the trash is gone.
local call = redis.call
--#include retention/forget
--#include lib/usage
--#include lib/record
--#include retention/release_settings

local q, kinds = ARGV[1], { b = KEYS[4], d = KEYS[5], x = KEYS[6] }
local shards, bytes = tonumber(ARGV[2]), 0
for i = 3, #ARGV, 4 do
  local key, id = kinds[ARGV[i]], ARGV[i + 1]
  local body = call('HGET', key, id)
  if body then
    if ARGV[i] == 'b' then release_settings(body, { set = KEYS[2], setn = KEYS[3], use = KEYS[9] }) end
    bytes = bytes + #body
    if ARGV[i] ~= 'd' and (Record.is_large(body) or not Record.is_sound(body)) then
      local seq = string.format('%.0f', math.floor(tonumber(id) / (16 * shards)))
      bytes = bytes + call('HSTRLEN', KEYS[7], seq)
      call('HDEL', KEYS[7], seq)
    end
    forget(KEYS[9 + tonumber(ARGV[i + 2])], ARGV[i + 3], q)
    call('HDEL', key, id)
  end
end
Usage.note(call('HGET', KEYS[8], 't' .. q) or nil, -bytes, 0, 0)
Usage.write(KEYS[8])
if call('EXISTS', KEYS[4], KEYS[5], KEYS[6]) > 0 then return 1 end
call('UNLINK', KEYS[7])
call('ZREM', KEYS[1], 't' .. q)
call('HDEL', KEYS[8], 't' .. q)
return 0
