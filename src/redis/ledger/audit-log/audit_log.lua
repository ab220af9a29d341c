-- Shared by the steps that write the audit log. Declares `AuditLog`. A log of a team is a stream of entries by the time of
-- Redis, '<outcome><JSON array>' in the field `e`, and a hash of what was counted into them: '<count> <last ms> <ids>' by
-- the id of the entry, and under `n` how often that happened. src/redis/ledger/audit-log/audit-entry.ts describes the array, whose
-- last element says what an entry is like. Outcome: d done · r refused · u unknown.

local AuditLog = {}
-- A like change within this time is counted into the entry of the first.
local TOGETHER_MS = 60000
-- Entries among which that one is looked for, and ids that it keeps.
local LOOKED_BACK, IDS_MAX = 32, 50
-- Entries past their time that one step removes, and entries that are read together.
local REMOVED_MAX, PAGE = 100, 500
-- What a log that is full keeps of its entries, so that room is not made with each of them.
local KEPT_PART = 0.9

-- What the entry is like, what it is about, if the order of such entries matters, and the id of its resource: the end of an
-- entry, '~<16 digits><12 characters><12 characters>"]'.
local function marks_of(text)
  return string.sub(text, -26, -15), string.sub(text, -14, -3), string.sub(text, -42, -27)
end
local ABOUT_NOTHING, NO_ID = '------------', '----------------'

-- Kind and name, as they begin the array.
local function actor_of(text)
  return string.match(text, '^%l%d*%[("[^"]*","[^"]*")') or ''
end

-- Of what the entry is about, as the array names it behind the actor, the way, the address and the act.
local function kind_of(text)
  return string.match(text, '^%l%d*%["[^"]*","[^"]*","%l+",[^,]*,"%l+","(%l+)"') or ''
end

local function ms_of(id)
  return tonumber(string.match(id, '^%d+'))
end

local function remove(log, counted, ids)
  for from = 1, #ids, PAGE do
    local last = math.min(from + PAGE - 1, #ids)
    redis.call('XDEL', log, unpack(ids, from, last))
    redis.call('HDEL', counted, unpack(ids, from, last))
  end
end

-- How many entries the one with the most may keep, so that all together keep `goal`: whoever has fewer loses none.
local function share_of(goal, counts)
  local sizes = {}
  for _, size in pairs(counts) do sizes[#sizes + 1] = size end
  table.sort(sizes)
  for i, size in ipairs(sizes) do
    local share = math.max(1, math.floor(goal / (#sizes - i + 1)))
    if size > share then return share end
    goal = goal - size
  end
  return math.huge
end

-- Removes the oldest entries of those that have the most, of each of them those of the kind that has the most.
local function make_room(log, counted, most)
  local ids, actors, kinds, sizes, sizes_by_kind = {}, {}, {}, {}, {}
  local page = redis.call('XRANGE', log, '-', '+', 'COUNT', PAGE)
  while #page > 0 do
    for _, one in ipairs(page) do
      local actor, kind = actor_of(one[2][2]), kind_of(one[2][2])
      ids[#ids + 1], actors[#ids + 1], kinds[#ids + 1] = one[1], actor, kind
      sizes[actor] = (sizes[actor] or 0) + 1
      local own = sizes_by_kind[actor] or {}
      own[kind], sizes_by_kind[actor] = (own[kind] or 0) + 1, own
    end
    page = redis.call('XRANGE', log, '(' .. page[#page][1], '+', 'COUNT', PAGE)
  end
  local goal = math.floor(most * KEPT_PART)
  local share = share_of(goal, sizes)
  local shares, kept, gone, left = {}, {}, {}, 0
  for actor, own in pairs(sizes_by_kind) do shares[actor], kept[actor] = share_of(share, own), { all = 0 } end
  for i = #ids, 1, -1 do
    local mine, kind = kept[actors[i]], kinds[i]
    local same = mine[kind] or 0
    if mine.all < share and same < shares[actors[i]] and left < goal then
      mine.all, mine[kind], left = mine.all + 1, same + 1, left + 1
    else
      gone[#gone + 1] = ids[i]
    end
  end
  remove(log, counted, gone)
end

-- Counts the change into the entry.
local function count_into(entry, counted, subject, now)
  local known = redis.call('HGET', counted, entry[1])
  local _, _, first = marks_of(entry[2][2])
  local many, ids = 1, first ~= NO_ID and first or ''
  if known then many, ids = string.match(known, '^(%d+) %d+ (.*)$') end
  if subject ~= NO_ID and tonumber(many) < IDS_MAX then ids = ids .. ',' .. subject end
  redis.call('HSET', counted, entry[1], string.format('%.0f %.0f %s', many + 1, now, ids))
  redis.call('HINCRBY', counted, 'n', 1)
end

-- An entry of this minute that is alike. Of what is about the same thing, the last one decides: the log must not say that
-- something was paused, and then resumed twice, where it was paused again in between.
local function like_entry(log, text, now)
  local like, about = marks_of(text)
  for _, one in ipairs(redis.call('XREVRANGE', log, '+', '-', 'COUNT', LOOKED_BACK)) do
    local at, other = ms_of(one[1]), one[2][2]
    if at <= now - TOGETHER_MS or at > now + TOGETHER_MS then return nil end
    local other_like, other_about = marks_of(other)
    if other_like == like and string.sub(other, 1, 1) == string.sub(text, 1, 1) then return one end
    if about ~= ABOUT_NOTHING and other_about == about then return nil end
  end
  return nil
end

-- Call it once, after everything that can refuse the change. entry: '' = nobody asked, as when the engine does it itself.
-- most: entries that are kept · kept_ms: for how long. Older ones go with the next entry, and the last with the whole key.
function AuditLog.add(log, counted, entry, most, kept_ms, outcome)
  if entry == '' then return end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local text = (outcome or 'd') .. entry
  local like = like_entry(log, text, now)
  if like then
    local _, _, subject = marks_of(text)
    count_into(like, counted, subject, now)
  else
    -- Ids only rise, whatever the clock does.
    local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
    local at = math.max(now, last and ms_of(last[1]) or 0)
    redis.call('XADD', log, string.format('%.0f-*', at), 'e', text)
  end
  local past = string.format('%.0f', now - tonumber(kept_ms) - 1)
  local old = redis.call('XRANGE', log, '-', past, 'COUNT', REMOVED_MAX)
  for i, one in ipairs(old) do old[i] = one[1] end
  remove(log, counted, old)
  if redis.call('XLEN', log) > tonumber(most) then make_room(log, counted, tonumber(most)) end
  redis.call('PEXPIRE', log, kept_ms)
  redis.call('PEXPIRE', counted, kept_ms)
end
