-- The same POST over and over; headers and body come from the environment.
wrk.method = 'POST'
wrk.body = os.getenv('LOAD_BODY')
for line in string.gmatch(os.getenv('LOAD_HEADERS') or '', '[^\n]+') do
  local name, value = string.match(line, '^([^:]+): (.*)$')
  wrk.headers[name] = value
end

function done(summary)
  local e = summary.errors
  io.write(string.format('RESULT %d %d %d\n', summary.requests, summary.duration,
    e.status + e.connect + e.read + e.write + e.timeout))
end
