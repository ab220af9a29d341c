-- Shared by the steps that reserve and drop names. Declares `note_name` and `drop_name`.
-- qn:<team> and kn:<team> hold the names of one team, all with score 0 and so in the order of their bytes: a page of
-- them costs the same however many names others have. Both are written before the name itself, which tells a resend
-- that the step was done.

-- team/name; a team holds no slash.
local function name_in(field) return string.sub(field, string.find(field, '/', 1, true) + 1) end

local function note_name(index, field) call('ZADD', index, 0, name_in(field)) end

local function drop_name(index, field) call('ZREM', index, name_in(field)) end
