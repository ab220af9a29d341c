#!lua flags=allow-oom
-- put_token: stores a token of a team in place of the former one of its name, or removes it. A hash is no secret and
-- belongs to the team that had it first, also when it is revoked: else whoever has read it could get the pushes of its
-- former holders. Decided here, so that it does not matter who comes first, a removal or another team's token.
-- Allowed when Redis is full: a token must be revocable then. A team's revoked hashes are bounded: the oldest goes.
-- Answer 'superseded' when a later epoch is known; 'taken' when the hash is another team's, or is nobody's and may not be
-- claimed, and then a former token of this name is removed all the same; else 'done'.
local call = redis.call
--#include control/compiler/change

local tokens, hash_teams, revoked = KEYS.tokens, KEYS.hashTeams, KEYS.revoked
local epoch, team, field, text = ARGV.epoch, ARGV.team, ARGV.field, ARGV.text

-- How many tokens have this hash, and of which team. None have a revoked hash.
local function team_of(hash)
  local count, name = string.match(call('HGET', hash_teams, hash) or '', '^(%d+) (.+)$')
  return tonumber(count or '0'), name
end

local function set_team(hash, count) call('HSET', hash_teams, hash, count .. ' ' .. team) end

-- If Redis dies in here, a hash is remembered for good, and never forgotten while a token has it.
local function revoke(hash, version)
  local count, holder = team_of(hash)
  if holder ~= team then return end
  if count > 1 then return set_team(hash, count - 1) end
  set_team(hash, 0)
  call('ZADD', revoked, version, hash)
  if call('ZCARD', revoked) <= tonumber(ARGV.revokedMax) then return end
  local oldest = call('ZRANGE', revoked, 0, 0)[1]
  call('ZREM', revoked, oldest)
  call('HDEL', hash_teams, oldest)
end

local version, stored = begin_change(tokens, epoch, field)
if not version then return 'superseded' end

local former = string.match(stored or '', '^%d+ ([^ ]+)')
local hash = string.match(text, '^[^ ]+')
local answer = 'done'
if hash then
  local count, holder = team_of(hash)
  if (holder and holder ~= team) or (not holder and ARGV.claims == '0') then
    answer, hash = 'taken', nil
  elseif hash ~= former then
    -- Before the token: if Redis dies in between, a hash is counted too often and kept too long.
    call('ZREM', revoked, hash)
    set_team(hash, count + 1)
  end
end
if hash then
  call('HSET', tokens, COMPILED.version, version, field, version .. ' ' .. text)
elseif stored then
  -- The version first: if Redis dies between the two writes, the resent step raises it again and readers read again.
  call('HSET', tokens, COMPILED.version, version)
  call('HDEL', tokens, field)
end
if former and former ~= hash then revoke(former, version) end
return answer
