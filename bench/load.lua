-- For wrk: asks for one path, or for one with changing ids, and prints a report that a program can read.
-- Arguments: the path, and how many ids there are (0: the path has none).

local requests = {}
local turn = 0

function init(args)
  local path, ids = args[1], tonumber(args[2])
  if ids == 0 then
    requests[1] = wrk.format("GET", path)
    return
  end
  math.randomseed(20261121)
  for place = 1, 10000 do
    requests[place] = wrk.format("GET", (path:gsub("__id__", tostring(math.random(ids)))))
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
