import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/queue-settings.ts'
import { createManifestReader } from '../../../src/resources/manifest-reader.ts'
import { specOfSettings } from '../../../src/resources/queue-spec.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/resources.md'), 'utf8')

describe('the reference of resources', () => {
  it.each([...page.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1] ?? ''))(
    'has a valid example %#',
    (text) => {
      const { resources, problems } = createManifestReader('default').read('example.yaml', text)
      expect(problems).toEqual([])
      expect(resources.length).toBeGreaterThan(0)
    },
  )

  it.each(Object.entries({ queueName: null, ...specOfSettings(DEFAULT_QUEUE_SETTINGS) }))(
    'tells %s with its default',
    (field, initial) => {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${field}\``)) ?? ''
      const shown = Array.isArray(initial)
        ? `[${initial.join(', ')}]`
        : JSON.stringify(initial).replaceAll('"', '')
      const expected = initial === null ? '' : shown
      expect(row.split('|')[3]?.trim().replaceAll('`', '') ?? 'no row').toContain(expected)
      expect(row).not.toBe('')
    },
  )
})
