-- For wrk: posts the bodies of the files in turns, again and again, and prints the report of load.lua.

local requests = {}
local at = 0

function init(args)
  wrk.method = 'POST'
  for number = 1, #args do
    local file = io.open(args[number], 'rb')
    requests[number] = wrk.format(nil, nil, nil, file:read('*a'))
    file:close()
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    'report {"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
