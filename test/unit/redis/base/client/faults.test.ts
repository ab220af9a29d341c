import { describe, expect, test } from 'vitest'
import { StorageFullError, StoreUnavailableError } from '../../../../../src/domain/errors.ts'
import { asStoreFault } from '../../../../../src/redis/base/client/faults.ts'

describe('Redis may answer later', () => {
  test.each([
    'LOADING Redis is loading the dataset in memory',
    "READONLY You can't write against a read only replica.",
    'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
    'MASTERDOWN Link with MASTER is down',
    'CLUSTERDOWN The cluster is down',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'NOREPLICAS Not enough good replicas to write.',
    'MISCONF Redis is configured to save RDB snapshots',
    'UNBLOCKED force unblock from blocking operation',
    'Connection is closed.',
    "Stream isn't writeable and enableOfflineQueue options is false",
    'Command timed out',
    'Failed to refresh slots cache.',
    "Cluster isn't ready and enableOfflineQueue options is false",
    'Socket closed unexpectedly',
    'None of startup nodes is available',
    'Too many Cluster redirections. Last error: ReplyError: TRYAGAIN Multiple keys request during rehashing of slot',
  ])('%s', (message) => {
    const cause = new Error(message)
    const fault = asStoreFault(cause)
    expect(fault).toBeInstanceOf(StoreUnavailableError)
    expect(fault).toMatchObject({ cause, message: `Redis is not available: ${message}` })
  })

  test('a lost connection, without what the client says of its own options', () => {
    expect(asStoreFault(new Error('Reached the max retries per request limit (which is 0).'))).toMatchObject({
      code: 'store_unavailable',
      message: 'Redis is not available: The connection was lost.',
    })
  })

  test.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ENOENT',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENOTFOUND',
    'EAI_AGAIN',
  ])('%s', (code) => {
    expect(asStoreFault(Object.assign(new Error(`connect ${code}`), { code }))).toBeInstanceOf(
      StoreUnavailableError,
    )
  })
})

test('a full Redis is a full store, in a script too', () => {
  const cause = new Error("OOM command not allowed when used memory > 'maxmemory'.")
  expect(asStoreFault(cause)).toBeInstanceOf(StorageFullError)
  expect(asStoreFault(cause)).toMatchObject({ cause })
})

describe('a defect of ours stays as it is', () => {
  test.each([
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    'ERR user_script:12: attempt to compare nil with number',
    "ERR Error running script: BUSY isn't at the start here",
    'BUSYKEY Target key name already exists.',
    "NOPERM this user has no permissions to run the 'evalsha' command",
    "CROSSSLOT Keys in request don't hash to the same slot",
    'WRONGPASS invalid username-password pair or user is disabled.',
  ])('%s', (message) => {
    const error = new Error(message)
    expect(asStoreFault(error)).toBe(error)
  })

  test('an error with another code', () => {
    const error = Object.assign(new Error('nope'), { code: 'ERR_INVALID_ARG_TYPE' })
    expect(asStoreFault(error)).toBe(error)
  })

  test('something thrown that is no error', () => {
    expect(asStoreFault('OOM')).toBe('OOM')
    expect(asStoreFault(undefined)).toBeUndefined()
  })
})
