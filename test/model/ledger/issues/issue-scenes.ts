import { ISSUE_DAYS } from '../../../../src/domain/limits.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createIssueStore } from '../../../../src/redis/ledger/issues/issue-store.ts'
import { tendIssues } from '../../../../src/redis/ledger/issues/tend-issues.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { openExecutor } from '../../../support/engine/model-executor.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'
import { endJobs, issuesOf } from './issue-stage.ts'

const HOUR_MS = 3_600_000

/** The steps that only issues have. */
export const ISSUE_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'change_issue',
    'an open issue, muted',
    async ({ world }) => {
      await endJobs(world, await openExecutor(world, 'one'), [{}])
      const [issue] = await issuesOf(world)
      const request = {
        issueId: issue?.id ?? '',
        change: 'mute',
        mutedUntilMs: 2e12,
        actor: AN_ACTOR,
      } as const
      return () => createIssueStore(world.engine).change({ ...request, team: 'default' })
    },
  ],
  [
    'tend_issues',
    'one issue that has recovered, and one that is past its time',
    async ({ world }) => {
      await endJobs(world, await openExecutor(world, 'one'), [{ host: 'old.example.com' }])
      world.clock.advance(ISSUE_DAYS * 24 * HOUR_MS - 2 * HOUR_MS)
      await endJobs(world, await openExecutor(world, 'two'), [{}])
      world.clock.advance(2 * HOUR_MS)
      const recovered = (_: string, issues: readonly unknown[]) => Promise.resolve(issues.map(() => true))
      return () => tendIssues(world.engine, shardKeys(world.engine, 0), { team: 'default', recovered })
    },
  ],
]
