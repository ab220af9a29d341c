import { describe, expect, it } from 'vitest'
import { observe, problemsOf, settle } from '../../../../src/folder-store/files/manifest-file.ts'
import type { Content, ManifestFile } from '../../../../src/folder-store/files/manifest-file.ts'
import { createManifestReader } from '../../../../src/resources/manifests/manifest-reader.ts'

const reader = createManifestReader('default')
const UNKNOWN: ManifestFile = { file: 'a.yaml', madeAtMs: 0, good: null, candidate: null }
const ABSENT: Content = { kind: 'absent' }

const queue = (name: string, spec = '{}') =>
  `apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: { name: ${name} }\nspec: ${spec}\n---\n`
const text = (value: string): Content => ({ kind: 'text', text: value })

/** Content by the time it is seen at; what is in force afterwards. */
function after(
  steps: ReadonlyArray<readonly [nowMs: number, Content]>,
  start = UNKNOWN,
): ManifestFile | null {
  let file: ManifestFile | null = start
  for (const [nowMs, content] of steps) {
    file = settle(observe(file ?? UNKNOWN, content, nowMs, reader), nowMs, false).file
  }
  return file
}

const BOTH = queue('a') + queue('b')
const inForce = after([
  [0, text(BOTH)],
  [250, text(BOTH)],
])

const known = (): ManifestFile => {
  if (inForce === null) throw new Error('not in force')
  return inForce
}

describe('a new version', () => {
  it('is in force when it has been the same for a quarter of a second', () => {
    expect(after([[0, text(BOTH)]])?.good).toBeNull()
    expect(
      after([
        [0, text(BOTH)],
        [249, text(BOTH)],
      ])?.good,
    ).toBeNull()
    expect(known().good?.text).toBe(BOTH)
  })

  it('waits anew whenever it is written again', () => {
    const twice = after([
      [0, text(queue('a'))],
      [200, text(BOTH)],
      [300, text(BOTH)],
    ])
    expect(twice?.good).toBeNull()
  })

  it('is in force at once at the first look after a start', () => {
    const { file } = settle(observe(UNKNOWN, text(BOTH), 0, reader), 0, true)
    expect(file?.good?.text).toBe(BOTH)
  })

  it('says when it is due', () => {
    expect(settle(observe(UNKNOWN, text(BOTH), 0, reader), 100, false).dueInMs).toBe(150)
    expect(settle(observe(known(), ABSENT, 1000, reader), 1500, false).dueInMs).toBe(1500)
    expect(settle(known(), 0, false).dueInMs).toBeNull()
  })
})

describe('the last good version stays in force', () => {
  it.each<[string, Content]>([
    ['an empty file', text('')],
    ['a half-written file', text(BOTH.slice(0, 100))],
    ['an invalid field', text(queue('a', '{ timeoutSeconds: 0 }') + queue('b'))],
    ['a file that cannot be read', { kind: 'unreadable', reason: 'is not text in UTF-8.' }],
    ['a queue that is called otherwise', text(queue('a', '{ queueName: other }') + queue('b'))],
  ])('over %s, however long it lies there', (_name, content) => {
    const file = after(
      [
        [0, content],
        [10_000, content],
        [100_000, content],
      ],
      known(),
    )
    expect(file?.good?.text).toBe(BOTH)
    expect(problemsOf(file ?? UNKNOWN, 100_000)).not.toEqual([])
  })

  it('and the problem is told only when the file is still', () => {
    const file = after([[0, text('')]], known()) ?? UNKNOWN
    expect(problemsOf(file, 249)).toEqual([])
    expect(problemsOf(file, 250)).toHaveLength(1)
  })

  it('and the problem is gone with its cause', () => {
    const file =
      after(
        [
          [0, text('')],
          [300, text(BOTH)],
        ],
        known(),
      ) ?? UNKNOWN
    expect(problemsOf(file, 1000)).toEqual([])
    expect(file.candidate).toBeNull()
  })
})

describe('deletion', () => {
  it('takes two seconds of absence', () => {
    expect(
      after(
        [
          [0, ABSENT],
          [1999, ABSENT],
        ],
        known(),
      )?.good?.text,
    ).toBe(BOTH)
    expect(
      after(
        [
          [0, ABSENT],
          [2000, ABSENT],
        ],
        known(),
      ),
    ).toBeNull()
  })

  it('takes them without a break', () => {
    expect(
      after(
        [
          [0, ABSENT],
          [1000, text(BOTH)],
          [2500, ABSENT],
        ],
        known(),
      )?.good?.text,
    ).toBe(BOTH)
    expect(
      after(
        [
          [0, ABSENT],
          [1000, text('')],
          [2500, ABSENT],
        ],
        known(),
      )?.good?.text,
    ).toBe(BOTH)
  })

  it('of one document in a file takes them as well', () => {
    const one = text(queue('a'))
    expect(
      after(
        [
          [0, one],
          [1999, one],
        ],
        known(),
      )?.good?.text,
    ).toBe(BOTH)
    expect(
      after(
        [
          [0, one],
          [2000, one],
        ],
        known(),
      )?.good?.text,
    ).toBe(queue('a'))
  })

  it('is not sooner at the first look after a start', () => {
    expect(settle(observe(known(), ABSENT, 0, reader), 0, true)).toMatchObject({ dueInMs: 2000 })
  })

  it('of a file that was never in force leaves nothing behind', () => {
    expect(
      after([
        [0, text('')],
        [100, ABSENT],
      ]),
    ).toBeNull()
  })
})

it('a queue that is called otherwise is told the rule', () => {
  const file = after([[0, text(queue('a', '{ queueName: other }') + queue('b'))]], known()) ?? UNKNOWN
  expect(problemsOf(file, 300)).toMatchObject([
    { document: 1, field: 'spec.queueName', line: 4, reason: 'cannot be changed: create another HttpQueue.' },
  ])
})
