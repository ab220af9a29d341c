-- What this Redis has of the steps of one intake, by which a loss is found. Declares `IntakeMark`; wants `call`.
--
-- An intake numbers its steps, and says in each how far it was answered. The mark is text, 'last from to told': the highest
-- number done here and, until they were told, the steps after `from` up to `to`, which were answered and are not here, with
-- the pages told of them so far. 'last' alone = nothing is lost. It only rises: a step that comes late lowers nothing. Of a
-- Redis that comes back with less than it had, the mark comes back as well, so it is behind what was answered.

local IntakeMark = {}

-- Reads the mark. Notes a loss in it when the intake was answered further than this Redis has got. One that was not told
-- yet and the next are one range, and what was accepted between them is told as lost.
function IntakeMark.read(key, answered)
  local last, from, to, told = string.match(call('GET', key) or '0', '^(%d+) ?(%d*) ?(%d*) ?(%d*)$')
  local mark = { last = tonumber(last), from = tonumber(from), to = tonumber(to), told = tonumber(told) or 0 }
  answered = tonumber(answered)
  if mark.last < answered then
    mark.from, mark.to, mark.told = math.min(mark.from or mark.last, mark.last), answered, 0
    mark.last = answered
  end
  return mark
end

-- The lost steps in words: 'from to'; '' = none.
function IntakeMark.lost(mark)
  return mark.from and string.format('%.0f %.0f', mark.from, mark.to) or ''
end

function IntakeMark.write(key, mark, step, seconds)
  local text = string.format('%.0f', math.max(mark.last, tonumber(step)))
  if mark.from then text = text .. ' ' .. IntakeMark.lost(mark) .. ' ' .. string.format('%.0f', mark.told) end
  call('SET', key, text, 'EX', seconds)
end
