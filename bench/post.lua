-- For wrk: posts the body of a file again and again, and prints the report of load.lua.

local body

function init(args)
  local file = io.open(args[1], 'rb')
  body = file:read('*a')
  file:close()
  wrk.method = 'POST'
  wrk.body = body
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    'report {"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
