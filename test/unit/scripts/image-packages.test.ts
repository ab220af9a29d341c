import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { imagePackages, NOT_IN_IMAGE, type LockedPackage } from '../../../scripts/image-packages.ts'

const ROOT = join(import.meta.dirname, '../../..')
const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockedPackage>
}

describe('the packages of the image', () => {
  test('are all that src/ imports, but those that no container needs', () => {
    const imported = new Set(globSync('src/**/*.ts', { cwd: ROOT }).flatMap(packagesOf))
    const present = new Set(imagePackages(packages).map((path) => path.slice('node_modules/'.length)))
    expect(imported.size).toBeGreaterThan(5)
    expect(imported.difference(present)).toEqual(NOT_IN_IMAGE)
  })

  test('leave out what only such a package needs', () => {
    const lock = {
      '': { dependencies: { ours: '1', '@kubernetes/client-node': '1' } },
      'node_modules/ours': { dependencies: { shared: '1' } },
      'node_modules/@kubernetes/client-node': { dependencies: { shared: '1', 'only-theirs': '1' } },
      'node_modules/shared': {},
      'node_modules/only-theirs': {},
    }
    expect(imagePackages(lock)).toEqual(['node_modules/ours', 'node_modules/shared'])
  })

  test('include the version nested in a package, required peers, and neither types nor optional peers', () => {
    const lock = {
      '': { dependencies: { a: '1', shared: '2', '@types/node': '1' } },
      'node_modules/a': {
        dependencies: { shared: '1' },
        peerDependencies: { peer: '1', extra: '1' },
        peerDependenciesMeta: { extra: { optional: true } },
      },
      'node_modules/a/node_modules/shared': { dependencies: { deep: '1' } },
      'node_modules/shared': {},
      'node_modules/deep': {},
      'node_modules/peer': {},
      'node_modules/extra': {},
      'node_modules/@types/node': {},
    }
    expect(imagePackages(lock)).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/shared',
      'node_modules/deep',
      'node_modules/peer',
      'node_modules/shared',
    ])
  })
})

function packagesOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8')
  return [...source.matchAll(/^(?:import(?! type)|export)[^'"]*?from '([^'.][^']*)'/gm)]
    .map(([, specifier = '']) => specifier)
    .filter((specifier) => !isBuiltin(specifier))
    .map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    )
}
