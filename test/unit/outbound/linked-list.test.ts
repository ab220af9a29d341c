import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LinkedList, type Link } from '../../../src/outbound/linked-list.ts'

test('the list is in order of arrival after any removals', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20), { nil: undefined })), (steps) => {
      const list = new LinkedList<number>()
      const links: Array<Link<number>> = []
      steps.forEach((removeAt, value) => {
        if (removeAt === undefined) links.push(list.append(value))
        else for (const link of links.splice(removeAt, 1)) list.remove(link)
        expect(list.length).toBe(links.length)
        expect(list.first).toBe(links[0]?.value)
      })
      for (const link of links) {
        expect(list.first).toBe(link.value)
        list.remove(link)
      }
    }),
  )
})
