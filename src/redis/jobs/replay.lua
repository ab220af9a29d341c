#!lua
-- replay: makes a new pending job of a dead letter, due at once, and moves the dead letter to the finished chains with
-- a note of the new job. Sent twice, done once.
-- KEYS  1 clk  2 ex  3 ring  4 gc  5 set  6 setn  7 ix:<block of the new seq>
--       8 q  9 r  10 b  11 a  12 p  13 x  14 xb  15 h  16 d  17 tu  18 teams
-- ARGV  lease_ms, finished_ms, local queue id, root id, old seq, nonce, new job id, new seq, new index field,
--       timeout or '' (the queue's), chain record with the note, month, start of the next one (ms)
-- Answer {'ok' or 'again', due, woken} · {'gone'} no such dead letter, or one that is damaged · {'taken'} the block belongs to another.
-- Transition: dead-lettered → new pending job.
--#include lib/clock
--#include lib/bands
--#include lib/ring
--#include lib/usage
--#include lib/quota
--#include lib/record

local lease_ms, finished_ms, q, root, old_seq = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local nonce, id, seq, field, timeout, record = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local now = shard_now(KEYS[1], KEYS[2], lease_ms)
if (call('HGET', KEYS[7], 'o') or nonce) ~= nonce then return { 'taken' } end
if call('HGET', KEYS[7], field) then
  local made = call('HGET', KEYS[10], id)
  return { 'again', made and Record.due(made) or pad13(now), 0 }
end
local body = call('HGET', KEYS[14], root)
local live = call('HMGET', KEYS[8], 'a', 'm', 's', 't', 'n', 'u')
if not body or not Record.is_sound(body) or not live[3] then return { 'gone' } end

local large = tonumber(string.sub(body, 16, 16)) % 2
local start = string.find(body, '\n', 31, true)
local request = string.sub(body, start)
local limit = timeout ~= '' and timeout or string.match(live[4], '^%d%d?%d?$') or Record.timeout_ms(body) / 1000
local payload = large == 1 and call('HGET', KEYS[12], old_seq)

if payload then
  call('HSET', KEYS[12], seq, payload)
  call('HDEL', KEYS[12], old_seq)
end
call('HINCRBY', KEYS[6], live[3], 1)
local made = pad13(now) .. '10' .. large .. string.format('%03d', limit) .. live[3] .. '|' .. request
call('HSET', KEYS[10], id, made)
local woken = 0
use_ring(KEYS[3], KEYS[18])
if call('RPUSH', KEYS[9], id) == 1 then woken = wake(q, live[6], live, KEYS[9], KEYS[11]) end
-- From here on a resend finds the new job made.
call('HSET', KEYS[7], 'o', nonce, field, q)
call('HSET', KEYS[16], root, record)
if call('LPUSH', KEYS[15], root) == 1 then call('ZADD', KEYS[4], 'LT', now + finished_ms, q) end
local team = Usage.team_of(live[5])
Usage.note(team, #made + #record - #body, 1, 0)
Usage.write(KEYS[17])
-- The caller has looked at the quotas; here the job is only counted.
Quota.bound(now, ARGV[12], ARGV[13])
Quota.admit_run(KEYS[17], Quota.add_team(team), #made)
Quota.write(KEYS[17])
call('HDEL', KEYS[14], root)
call('ZREM', KEYS[13], root)
return { 'ok', pad13(now), woken }
