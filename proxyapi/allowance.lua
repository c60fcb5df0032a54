-- The bucket of one token: every change of it happens in this script, on the server's clock.
-- KEYS  1 epoch: when this Redis began to remember; 2 bucket: hash; 3 log: one member a request
-- ARGV  1 verb; then what the verb needs. Times are milliseconds. Returns a list of integers.

local epoch, bucket, log = KEYS[1], KEYS[2], KEYS[3]
local verb, window, unlearned = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local DAY = 86400000

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

redis.call('SET', epoch, now, 'NX')
local born = tonumber(redis.call('GET', epoch))
redis.call('ZREMRANGEBYSCORE', log, '-inf', now - window)

local limit = tonumber(redis.call('HGET', bucket, 'limit')) or unlearned
local paused = math.max(0, (tonumber(redis.call('HGET', bucket, 'paused_until')) or 0) - now)
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

-- Milliseconds until `count` more of the oldest `used` requests have left the window.
local function until_left(count, from)
  if count > used then return window end
  local at = redis.call('ZRANGE', log, count - 1, count - 1, 'WITHSCORES')[2]
  return math.max(1, at + from - now)
end

if verb == 'take' then
  local cost, reserve, burst, span = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
  if paused > 0 then return {0, paused} end
  if blind then
    -- Nothing is known of the last minute: one request at a time, as slow as the limit allows.
    local last = tonumber(redis.call('HGET', bucket, 'probed')) or 0
    local wait = last + math.ceil(window / limit) * cost - now
    if last > 0 and wait > 0 then return {0, wait} end
    redis.call('HSET', bucket, 'probed', now)
  else
    local share = math.max(cost, limit - math.floor(limit * reserve / 100))
    local over = used + cost - share
    if over > 0 then return {0, until_left(over, window)} end
    if burst > 0 then
      local most = math.max(cost, math.ceil(share * burst / 100))
      local recent = redis.call('ZCOUNT', log, now - span, '+inf')
      local crowd = recent + cost - most
      if crowd > 0 then return {0, until_left(used - recent + crowd, span)} end
    end
  end
  note(cost)
  keep()
  return {1, 0}
end

if verb == 'correct' then
  local told, left = tonumber(ARGV[4]), tonumber(ARGV[5])
  redis.call('HSET', bucket, 'limit', told, 'seen', 1)
  -- Requests that somebody else made with this token, or that were forgotten, count from now.
  note(math.max(0, told - left - used))
  keep()
  return {1, 0}
end

if verb == 'pause' then
  local pause = tonumber(ARGV[4])
  if pause > paused then redis.call('HSET', bucket, 'paused_until', now + pause) end
  keep()
  return {1, 0}
end

local left = math.max(0, limit - used)
if paused > 0 then left = 0 elseif blind then left = math.min(left, 1) end
local newest = redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')[2]
local full = newest and math.max(0, newest + window - now) or 0
return {limit, left, math.max(full, paused)}
