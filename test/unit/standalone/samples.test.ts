import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StartupError } from '../../../src/domain/errors.ts'
import { createManifestReader } from '../../../src/resources/manifests/manifest-reader.ts'
import { applySamples } from '../../../src/standalone/samples.ts'

const samples = join(import.meta.dirname, '../../../config/samples')

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-samples-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('samples', () => {
  it('go into a folder that holds only dot files', () => {
    writeFileSync(join(folder, '.punctual-store'), 'x')
    const names = [
      'nightly-report.yaml',
      'one-at-a-time.yaml',
      'quick-retries.yaml',
      'sunday-night.yaml',
      'team.yaml',
    ]
    expect(applySamples(folder)).toEqual(names)
    expect(readdirSync(folder).toSorted()).toEqual(['.punctual-store', ...names])
  })

  it('that cannot be copied end the start with one sentence', () => {
    const source = join(folder, 'samples')
    mkdirSync(join(source, 'a.yaml'), { recursive: true })
    mkdirSync(join(folder, 'resources'))
    expect(() => applySamples(join(folder, 'resources'), source)).toThrow(StartupError)
    expect(() => applySamples(join(folder, 'resources'), source)).toThrow(
      /^The samples cannot be put into the empty folder of manifests .*: make it writable, or put a manifest into it\.$/,
    )
  })

  it('leave a folder alone that holds anything', () => {
    mkdirSync(join(folder, 'sub'))
    expect(applySamples(folder)).toEqual([])
    expect(readdirSync(folder)).toEqual(['sub'])
  })

  it.each(readdirSync(samples))('%s is valid, and stays so with its comments taken off', (file) => {
    const text = readFileSync(join(samples, file), 'utf8')
    const reader = createManifestReader('default')
    expect(reader.read(file, text)).toMatchObject({ problems: [] })
    // Fields that are commented out; sentences begin with a capital letter or a word alone.
    const tried = text.replaceAll(/^( *)# (?=-|---|[a-zA-Z]+:| )/gm, '$1')
    expect(reader.read(file, tried)).toMatchObject({ problems: [] })
  })

  it('show signing and channels as try-outs', () => {
    const text = readFileSync(join(samples, 'team.yaml'), 'utf8')
    const tried = text.replaceAll(/^( *)# (?=-|---|[a-zA-Z]+:| )/gm, '$1')
    const { resources } = createManifestReader('default').read('team.yaml', tried)
    expect(resources.map((one) => one.resource)).toMatchObject([
      {
        kind: 'TeamSettings',
        signingSecretRefs: [{ name: 'signing', key: 'current' }],
        channels: [{ name: 'mail' }, { name: 'ops', secretRef: { name: 'notifications', key: 'slack' } }],
      },
      { kind: 'Secret', name: 'signing' },
      { kind: 'Secret', name: 'notifications' },
    ])
  })
})
