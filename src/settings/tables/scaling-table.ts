import { EXECUTOR_CONCURRENCY_MAX } from './capacity-table.ts'
import { integerBetween, oneOf, parseObjectName } from '../parsers.ts'
import { setting } from '../setting.ts'

const EXECUTOR_PODS_MAX = 1_000
const SCALING_DOWN_SECONDS_MAX = 86_400
export const SCALING_MODES = ['builtin', 'external', 'fixed'] as const

/** How the controller scales the executors. */
export const SCALING_SETTINGS = Object.freeze({
  executorDeployment: setting({
    roles: ['controller'],
    variable: 'PUNCTUAL_EXECUTOR_DEPLOYMENT',
    placeholder: 'name',
    help: 'the Deployment to scale',
    initial: 'punctual-executor',
    parse: parseObjectName,
  }),
  scalingMode: setting({
    roles: ['controller'],
    variable: 'PUNCTUAL_SCALING_MODE',
    placeholder: 'mode',
    help: 'builtin scales executors by their backlog; external and fixed leave the number to others',
    initial: 'builtin',
    parse: oneOf(SCALING_MODES),
  }),
  scalingMin: setting({
    roles: ['controller'],
    variable: 'PUNCTUAL_SCALING_MIN',
    placeholder: 'number',
    help: 'minimum of executor pods',
    initial: 0,
    parse: integerBetween(0, EXECUTOR_PODS_MAX),
  }),
  scalingMax: setting({
    roles: ['controller'],
    variable: 'PUNCTUAL_SCALING_MAX',
    placeholder: 'number',
    help: 'maximum of executor pods',
    initial: 10,
    parse: integerBetween(1, EXECUTOR_PODS_MAX),
  }),
  scalingCallsPerPod: setting({
    roles: ['controller'],
    variable: 'PUNCTUAL_SCALING_CALLS_PER_POD',
    placeholder: 'number',
    help: 'concurrent calls per executor pod before another pod is added',
    initial: 200,
    parse: integerBetween(1, EXECUTOR_CONCURRENCY_MAX),
  }),
  scalingDownSeconds: setting({
    roles: ['controller'],
    variable: 'PUNCTUAL_SCALING_DOWN_SECONDS',
    placeholder: 'seconds',
    help: 'how long fewer executor pods must have sufficed before scaling down',
    initial: 120,
    parse: integerBetween(0, SCALING_DOWN_SECONDS_MAX),
  }),
})
