import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { loadScripts, type ScriptName } from '../../src/redis/scripts.ts'
import { runSeed } from './seeds.ts'

/** Bugs put into the steps: what is done instead. Each must be seen within as many seeds. */
const PLANTED: ReadonlyArray<{ bug: string; script: ScriptName; right: string; wrong: string }> = [
  {
    bug: 'finish ends jobs that are not held',
    script: 'finish',
    right: "holders[i] == ctx.queues[job.queue].id .. '|' .. job.token and not",
    wrong: 'not',
  },
  {
    bug: 'claim forgets the slots in use',
    script: 'claim',
    right: "tonumber(live[2]) - call('ZCARD', queue.a)",
    wrong: 'tonumber(live[2])',
  },
  {
    bug: 'a claim sent again takes other jobs',
    script: 'claim',
    right: 'if same == request_id',
    wrong: "if same == ''",
  },
  {
    bug: 'finish frees no slot',
    script: 'finish',
    right: "call('ZREM', queue.keys.a, unpack(queue.freed))",
    wrong: '',
  },
  {
    bug: 'reap counts no loss',
    script: 'reap',
    right: 'string.sub(body, 1, 14) .. losses .. string.sub(body, 16)',
    wrong: 'body',
  },
  {
    bug: 'reap takes jobs of a live executor',
    script: 'reap',
    right: 'tonumber(lease) + margin_ms > now',
    wrong: 'tonumber(lease) - 100000 > now',
  },
  {
    bug: 'a jump of the clock ends leases',
    script: 'beat',
    right: 'wall + lease_ms, executor',
    wrong: 'wall - lease_ms, executor',
  },
  {
    bug: 'dead letters call nobody back',
    script: 'finish',
    right: "if job.callback ~= '' then",
    wrong: "if job.callback ~= '' and job.kind ~= 'd' then",
  },
]
const SEEDS_UNTIL_FOUND = 200

describe('a bug in a step is found', () => {
  test.each(PLANTED)('$bug', { timeout: 60_000 }, async ({ script, right, wrong }) => {
    let isPlanted = false
    const scripts = loadScripts((source, name) => {
      if (name !== script) return source
      isPlanted = source.includes(right)
      return source.replaceAll(right, wrong)
    })
    assert.ok(isPlanted, 'the step reads otherwise by now: plant the bug anew')
    for (let seed = 1; seed <= SEEDS_UNTIL_FOUND; seed += 1) {
      if ((await runSeed(seed, { scripts })).problems.length > 0) return
    }
    assert.fail(`not found in ${SEEDS_UNTIL_FOUND} seeds`)
  })
})
