import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { StartupError } from '../../../src/domain/errors.ts'
import { loadApiSettings as loadApi, loadStandaloneSettings } from '../../../src/settings/role-settings.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

function mistakesOf(load: () => unknown): string[] {
  try {
    load()
  } catch (error) {
    if (error instanceof StartupError) return error.message.split('\n')
    throw error
  }
  return []
}

const standaloneMistake = (variable: string, text: string) =>
  mistakesOf(() => loadStandaloneSettings({ [variable]: text }, {}))

it('an API must be told where its resources lie, and takes a key for those of a folder', () => {
  const env = { PUNCTUAL_REDIS_URL: 'redis://r' }
  expect(mistakesOf(() => loadApi(env, {}))).toEqual([
    'PUNCTUAL_RESOURCES is not set: it says where resources lie and edits go, kubernetes or a folder such as ./resources.',
  ])
  expect(mistakesOf(() => loadApi({ ...env, PUNCTUAL_RESOURCES: 'engine' }, {}))).toEqual([
    'PUNCTUAL_RESOURCES is "engine", which is not allowed: it must be kubernetes or a folder such as ./resources; queues and crons are not kept in Redis alone.',
  ])
  const folder = { ...env, PUNCTUAL_RESOURCES: 'engines' }
  expect(mistakesOf(() => loadApi(folder, {}))).toEqual([
    expect.stringContaining('an API that keeps a folder of resources seals their secrets with it'),
  ])
  const settings = loadApi({ ...folder, PUNCTUAL_SECRETS_KEY: KEY, PUNCTUAL_DATA_DIR: '/data' }, {})
  expect(settings).toMatchObject({ resources: resolve('engines'), dataDir: '/data' })
  expect(settings.secretsKey).not.toBeNull()
})

it('standalone keeps a folder, and has nothing to do with a cluster', () => {
  expect(standaloneMistake('PUNCTUAL_RESOURCES', 'kubernetes')).toEqual([
    'PUNCTUAL_RESOURCES is kubernetes, which standalone cannot use: name a folder, or leave it out for resources/ in the data folder.',
  ])
  expect(standaloneMistake('PUNCTUAL_RESOURCES', 'engine')).toHaveLength(1)
})
