import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { requestTarget } from '../../../../src/outbound/exchange/request-target.ts'

test.each([
  ['http://h', '/'],
  ['http://h/', '/'],
  ['http://h?', '/?'],
  ['http://h?a=1', '/?a=1'],
  ['http://h?a=/b', '/?a=/b'],
  ['http://h#/b', '/'],
  ["http://h/a?b='c'", "/a?b='c'"],
  ['http://h/a/%2e%2e/b', '/a/%2e%2e/b'],
  ['http://h/a/../b/./c', '/a/../b/./c'],
  ['http://h//a', '//a'],
  ['http://h/a?', '/a?'],
  ['http://h/a?b?c', '/a?b?c'],
  ['http://h/a#f?x', '/a'],
  ['http://h/%zz%?%', '/%zz%?%'],
  ['http://h:80/a', '/a'],
  ['https://[::1]:443/a', '/a'],
  ['HTTP://H/A', '/A'],
  ['http:\\\\h\\a\\b?x\\y', '/a/b?x\\y'],
  [' http://h/a\t\nb ', '/ab'],
  ['http://h/ü x?ü "y"', '/%C3%BC%20x?%C3%BC%20%22y%22'],
  ['http://h/{a}^`<>[]|?{a}^`<>[]|', '/%7Ba%7D%5E%60%3C%3E[]|?{a}^`%3C%3E[]|'],
  ['http://h/\ud800', '/%EF%BF%BD'],
  ['http://h/\u{1f600}', '/%F0%9F%98%80'],
])('%j: %s', (url, target) => {
  expect(requestTarget(url)).toBe(target)
})

test('is what the URL standard makes of it, but for what it rewrites', () => {
  const part = fc.string({ unit: 'grapheme', maxLength: 12 })
  fc.assert(
    fc.property(part, fc.option(part), fc.option(part), (path, query, fragment) => {
      const text = `http://h/${path}${query === null ? '' : `?${query}`}${fragment === null ? '' : `#${fragment}`}`
      const url = URL.parse(text)
      fc.pre(url !== null)
      const target = requestTarget(text)
      expect(target).toMatch(/^\/[!-~]*$/)
      const { pathname, search } = new URL(`http://h${target}`)
      expect(pathname + search).toBe(url.pathname + url.search)
    }),
    { numRuns: 2_000 },
  )
})
