import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LinkedList, type Link } from '../../../src/domain/linked-list.ts'

function removeTwice(list: LinkedList<number>, link: Link<number>): void {
  list.remove(link)
  list.remove(link)
}

function comeBackTwice(list: LinkedList<number>, link: Link<number>): Link<number> {
  list.putBack(link)
  list.putBack(link)
  return link
}

test('the list is in order of arrival after any removals', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20), { nil: undefined })), (steps) => {
      const list = new LinkedList<number>()
      const links: Array<Link<number>> = []
      steps.forEach((removeAt, value) => {
        if (removeAt === undefined) links.push(list.append(value))
        else {
          const [link] = links.splice(removeAt, 1)
          if (link !== undefined) removeTwice(list, link)
          // Every other one comes again, as the last.
          if (link !== undefined && removeAt % 2 === 1) links.push(comeBackTwice(list, link))
        }
        expect(list.length).toBe(links.length)
        expect([...list]).toEqual(links.map((link) => link.value))
      })
      for (const link of links) {
        expect(list.first).toBe(link.value)
        list.remove(link)
      }
    }),
  )
})
