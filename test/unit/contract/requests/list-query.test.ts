import { expect, test } from 'vitest'
import { readJobFilter, readPageQuery } from '../../../../src/contract/requests/list-query.ts'

test('an empty query is the first page of everything', () => {
  const all = { queue: null, status: null, limit: 100, cursor: null }
  expect(readJobFilter('')).toEqual({ kind: 'valid', value: all })
})

test('every filter', () => {
  expect(readJobFilter('queue=a%20b&status=dead_lettered&limit=1000&cursor=x')).toEqual({
    kind: 'valid',
    value: { queue: 'a b', status: 'dead_lettered', limit: 1000, cursor: 'x' },
  })
  expect(readPageQuery('limit=1')).toEqual({ kind: 'valid', value: { limit: 1, cursor: null } })
})

test.each([
  ['limit=0', 'limit', 'The limit field must be between 1 and 1000.'],
  ['limit=1001', 'limit', 'The limit field must be between 1 and 1000.'],
  ['limit=ten', 'limit', 'The limit field must be an integer.'],
  ['limit=1.5', 'limit', 'The limit field must be an integer.'],
  ['limit=-1', 'limit', 'The limit field must be an integer.'],
  ['limit=1&limit=2', 'limit', 'The limit field must be given once only.'],
  ['queue=a&queue=', 'queue', 'The queue field must be given once only.'],
  ['queue=', 'queue', 'The queue field must have a value.'],
  ['queue', 'queue', 'The queue field must have a value.'],
  ['status=', 'status', 'The status field must have a value.'],
  ['limit=', 'limit', 'The limit field must have a value.'],
  ['cursor=', 'cursor', 'The cursor field must have a value.'],
  ['status=done', 'status', 'The selected status is invalid.'],
  [`queue=${'q'.repeat(256)}`, 'queue', 'The queue field must not be greater than 255 characters.'],
  [`cursor=${'c'.repeat(1537)}`, 'cursor', 'The cursor field must not be greater than 1536 characters.'],
  ['sort=asc', 'sort', 'The sort field is unknown.'],
  ['__proto__=1', '__proto__', 'The __proto__ field is unknown.'],
])('%s', (search, field, text) => {
  const result = readJobFilter(search)
  expect(result.kind === 'invalid' && Object.entries(result.problem.errors)).toEqual([[field, [text]]])
})

test('the query of a list without filters has the same mistakes', () => {
  const result = readPageQuery('limit=&cursor=&cursor=x&queue=a')
  expect(result.kind === 'invalid' && result.problem.errors).toEqual({
    limit: ['The limit field must have a value.'],
    cursor: ['The cursor field must be given once only.'],
    queue: ['The queue field is unknown.'],
  })
})
