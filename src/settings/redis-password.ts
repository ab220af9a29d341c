import { redisMistakes, type RedisValues } from './tables/redis-table.ts'

interface GivenRedis extends RedisValues {
  readonly redisPassword: string | null
}

interface Read<T> {
  readonly values: T
  readonly mistakes: readonly string[]
}

/** Puts the password into the URL, escaped, so that callers need only the URL. */
export function withRedisPassword<T extends GivenRedis>({ values, mistakes }: Read<T>) {
  const { redisPassword, redisUrl, ...others } = values
  const problem = redisPassword === null ? null : problemOf(redisUrl, mistakes)
  const isFilledIn = redisPassword !== null && redisUrl !== null && problem === null
  const found = [...mistakes, ...(problem === null ? [] : [problem]), ...redisMistakes(values)]
  return {
    values: { ...others, redisUrl: isFilledIn ? fillIn(redisUrl, redisPassword) : redisUrl },
    mistakes: found,
  }
}

function problemOf(url: string | null, mistakes: readonly string[]): string | null {
  if (url === null) {
    const isReported = mistakes.some((one) => /^(?:PUNCTUAL_REDIS_URL|--redis-url) /.test(one))
    return isReported
      ? null
      : 'PUNCTUAL_REDIS_URL is not set, and PUNCTUAL_REDIS_PASSWORD needs it: set both.'
  }
  if (url.startsWith('/')) {
    return 'PUNCTUAL_REDIS_URL is a unix socket, for which PUNCTUAL_REDIS_PASSWORD cannot be used.'
  }
  if (new URL(url).password === '') return null
  return 'PUNCTUAL_REDIS_URL has a password and PUNCTUAL_REDIS_PASSWORD is set as well: give one of them.'
}

function fillIn(text: string, password: string): string {
  const url = new URL(text)
  // URL escapes what would end the password, but not a % that looks like an escape.
  url.password = encodeURIComponent(password)
  return url.href
}
