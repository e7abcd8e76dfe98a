-- For wrk: asks for the paths of a file, one a line, in turn, and prints a report that a program can read.

local requests = {}
local turn = 0

function init(args)
  for path in io.lines(args[1]) do
    table.insert(requests, wrk.format("GET", path))
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    'report {"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
