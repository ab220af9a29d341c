import { expect, test } from 'vitest'
import { lazyPort } from '../../../../src/roles/startup/lazy-port.ts'

class Adder {
  readonly #to: number
  constructor(to: number) {
    this.#to = to
  }
  async add(value: number): Promise<number> {
    return this.#to + value
  }
}

let opened: Adder | null = null
const port: Pick<Adder, 'add'> = lazyPort<Pick<Adder, 'add'>>(() => {
  if (opened === null) throw new Error('not open yet')
  return opened
})

test('rejects until there is a port, then calls it as its own method', async () => {
  opened = null
  const { add } = port
  await expect(add(1)).rejects.toThrow('not open yet')
  opened = new Adder(40)
  expect(await port.add(2)).toBe(42)
  expect(await add(3)).toBe(43)
})

test('is no promise, though it answers to every name', async () => {
  expect(await Promise.resolve(port)).toBe(port)
})
