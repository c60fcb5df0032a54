-- The bucket of one token: only this script changes it, on the Redis server's clock.
-- KEYS  1 epoch: the first time known to this Redis; 2 bucket: hash; 3 log: one member a request
-- ARGV  1 verb; 2 window; 3 limit until one is known; 4 the time, or '' for the server's own (a
--       simulation passes its time); then the arguments of the verb. Times are milliseconds.
-- Returns a list of integers.

local epoch, bucket, log = KEYS[1], KEYS[2], KEYS[3]
local verb, window, unlearned = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local DAY = 86400000
local SKEW = 2000     -- a stored time further ahead means that the clock was set back
local FADES = 120000 -- time constant of the decay of people's requests
local CALM = 6       -- people's requests a minute that the priority's own reserve covers
local FOLLOWED = 3   -- beyond it, one more is left free for this many a minute

local now = tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

redis.call('SET', epoch, now, 'NX')
local born = tonumber(redis.call('GET', epoch))
redis.call('ZREMRANGEBYSCORE', log, '-inf', now - window)

local function known(name)
  return tonumber(redis.call('HGET', bucket, name)) or 0
end

-- A stored time; one that is ahead was stored before the clock was set back and becomes now.
local function moment(name)
  local at = known(name)
  if at <= now + SKEW then return at end
  redis.call('HSET', bucket, name, now)
  return now
end

local limit = tonumber(redis.call('HGET', bucket, 'limit')) or unlearned
local paused = math.max(0, moment('paused_at') + known('paused_for') - now)
local used = redis.call('ZCARD', log)
local blind = redis.call('HEXISTS', bucket, 'seen') == 0 and now - born < window

local function keep()
  redis.call('PEXPIRE', bucket, DAY)
  redis.call('PEXPIRE', log, window)
end

local function note(count)
  for _ = 1, count do
    redis.call('ZADD', log, now, redis.call('HINCRBY', bucket, 'number', 1))
  end
end

-- After a clock rollback later entries count from now: at worst they are of the last minute.
local ahead = redis.call('ZREMRANGEBYSCORE', log, now + SKEW, '+inf')
if ahead > 0 then note(ahead) end

-- Milliseconds until `count` more of the oldest `used` requests have left the window.
local function until_left(count)
  if count > used then return window end
  local at = redis.call('ZRANGE', log, count - 1, count - 1, 'WITHSCORES')[2]
  return math.max(1, at + window - now)
end

-- People's recent requests, older ones weighted less.
local function clicks()
  return known('people') * math.exp(math.min(0, moment('people_at') - now) / FADES)
end

-- A priority: percent of the limit it leaves free, 1 if it leaves more if people send much, percent
-- of the limit that it gets a minute at most (0: no such bound), how many of them at once, seconds
-- without a request after which it goes before all but people (0: never), milliseconds within which
-- it leaves one more free (0: none), 1 for people's requests, and its number.
local function lane_of(from, lends)
  local lane = {}
  local names = {'reserve', 'follows', 'pace', 'burst', 'starves', 'soon', 'people', 'number'}
  for place, name in ipairs(names) do
    lane[name] = tonumber(ARGV[from + place - 1])
  end
  lane.free = math.floor(limit * lane.reserve / 100)
  local turn = known('turn:' .. lane.number)
  local starved = lane.starves > 0 and math.abs(now - turn) > lane.starves * 1000
  if lends and starved then lane.free = 1 end
  if lane.follows == 1 then
    local minutely = clicks() * 60000 / FADES
    local more = math.ceil(math.max(0, minutely - CALM) / FOLLOWED)
    lane.free = math.max(lane.free, math.min(math.floor(limit / 2), lane.free + more))
  end
  if lane.pace > 0 then
    lane.step = window * 100 / (limit * lane.pace)
    if turn > now + lane.burst * lane.step + SKEW then turn = now end
    lane.turn = math.max(now, turn)
  end
  return lane
end

-- The requests the priority would be granted now, and the milliseconds until `cost` would be.
local function room_for(lane, cost)
  if paused > 0 then return 0, paused end
  if blind then
    -- The last minute is unknown: one request at a time, at the average rate of the limit.
    local last = math.min(moment('probed'), now)
    local wait = last + math.ceil(window / limit) * cost - now
    if last > 0 and wait > 0 then return 0, wait end
    return math.max(1, cost), 0
  end
  local share = math.max(cost, limit - lane.free)
  local room, wait = share - used, 0
  if room < cost then wait = until_left(used + cost - share) end
  if lane.soon > 0 then
    local less = math.max(cost, share - 1)
    local still = redis.call('ZCOUNT', log, '(' .. (now + lane.soon - window), '+inf')
    room = math.min(room, less - still)
    if less - still < cost then wait = math.max(wait, until_left(used + cost - less) - lane.soon) end
  end
  if lane.step then
    local burst = math.max(cost, lane.burst)
    room = math.min(room, math.floor((now - lane.turn) / lane.step + burst))
    wait = math.max(wait, math.ceil(lane.turn + (cost - burst) * lane.step - now))
  end
  return math.max(0, room), wait
end

if verb == 'room' then
  local room, wait = room_for(lane_of(5, true), 1)
  -- A starved priority gets one request; beyond that only what it would get otherwise.
  if room > 1 then room = math.max(1, (room_for(lane_of(5, false), 1))) end
  return {room, wait}
end

if verb == 'take' then
  local cost, lane = tonumber(ARGV[5]), lane_of(6, true)
  local room, wait = room_for(lane, cost)
  if room < cost then return {0, math.max(1, wait), 0} end
  if blind then redis.call('HSET', bucket, 'probed', now) end
  if lane.step then
    redis.call('HSET', bucket, 'turn:' .. lane.number, math.floor(lane.turn + cost * lane.step))
  end
  if lane.people == 1 then
    redis.call('HSET', bucket, 'people', clicks() + cost, 'people_at', now)
  end
  note(cost)
  keep()
  return {1, 0, known('number')}
end

if verb == 'restamp' then
  redis.call('ZADD', log, now, ARGV[5])
  keep()
  return {1}
end

if verb == 'correct' then
  local stated, left = tonumber(ARGV[5]), tonumber(ARGV[6])
  redis.call('HSET', bucket, 'limit', stated, 'seen', 1)
  -- Requests that others sent with this token, or that Redis lost, count from now.
  note(math.max(0, stated - left - used))
  keep()
  return {1, 0}
end

if verb == 'pause' then
  local pause = tonumber(ARGV[5])
  if pause > paused then redis.call('HSET', bucket, 'paused_at', now, 'paused_for', pause) end
  keep()
  return {1, 0}
end

if verb == 'paused' then return {paused} end

local left = math.max(0, limit - used)
if paused > 0 then left = 0 elseif blind then left = math.min(left, 1) end
local newest = redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')[2]
local full = newest and math.max(0, newest + window - now) or 0
return {limit, left, math.max(full, paused)}
