import { execFileSync } from 'node:child_process'
import { arch, cpus, release, totalmem, type } from 'node:os'
import type { Machine } from './report/results.ts'

export function describeMachine(): Machine {
  const redis = execFileSync('redis-server', ['--version'], { encoding: 'utf8' })
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: cpus().length,
    memory_gib: Math.round((totalmem() / 1024 ** 3) * 10) / 10,
    os: `${type()} ${release().split('-')[0]} ${arch()}`,
    node: process.versions.node,
    redis: /v=(\S+)/.exec(redis)?.[1] ?? 'unknown',
  }
}

/** The commit measured; with a mark when the source was not as committed. */
export function describeCommit(root: string): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  try {
    return (
      git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'src') === '' ? '' : '+changes')
    )
  } catch {
    return 'unknown'
  }
}
