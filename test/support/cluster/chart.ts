/** Renders and installs the chart with a real helm: the one on PATH, or the one that scripts/helm.sh builds. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { toolObstacle, toolPath } from '../tools.ts'

const FIND_HELM = 'helm.sh'
const CHART = fileURLToPath(new URL('../../../charts/punctual', import.meta.url))
const COMMAND_TIMEOUT_MS = 60_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Why there is no helm; null when there is. The first call may build it, which takes minutes. */
export function helmObstacle(): string | null {
  return toolObstacle(FIND_HELM)
}

export interface HelmOptions {
  /** Its settings and cache go to a temporary folder. */
  readonly home?: string
  readonly kubeconfig?: string
}

/** Runs helm and returns its output. Throws with its error output. */
export async function helm(
  given: readonly string[],
  { home, kubeconfig }: HelmOptions = {},
): Promise<string> {
  const folders = ['HELM_CACHE_HOME', 'HELM_CONFIG_HOME', 'HELM_DATA_HOME']
  const own = home === undefined ? [] : folders.map((name) => [name, join(home, name)] as const)
  const { stdout } = await promisify(execFile)(join(toolPath(FIND_HELM), 'helm'), [...given], {
    timeout: COMMAND_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_BYTES_MAX,
    env: {
      ...process.env,
      // It ends before collecting garbage is worth the CPU.
      GOGC: 'off',
      ...Object.fromEntries(own),
      ...(kubeconfig && { KUBECONFIG: kubeconfig }),
    },
  })
  return stdout
}

export interface RenderOptions {
  /** As after `--set`; a comma within a value needs a backslash. */
  readonly set?: readonly string[]
  /** As in a file of values; `set` wins. */
  readonly values?: object
  readonly namespace?: string
}

/** By what they are rendered with, the namespace of a test aside: each takes half a second of CPU. */
const renderings = new Map<string, Promise<string>>()
/** Of `newNamespace`. */
const NAMESPACE_OF_TEST = /^test-[0-9a-f]{8}$/
/** As long as one of a test, whose place it takes. */
const ANY_NAMESPACE = 'test-anywhere'

/** The manifests of a release called punctual, rendered once per process. Throws with helm's error output. */
export async function renderChart(options: RenderOptions = {}): Promise<string> {
  const { namespace = '' } = options
  const isOfTest = NAMESPACE_OF_TEST.test(namespace)
  const key = isOfTest
    ? JSON.stringify(options).replaceAll(namespace, ANY_NAMESPACE)
    : JSON.stringify(options)
  const rendering = renderings.get(key) ?? renderAnew(JSON.parse(key) as RenderOptions)
  renderings.set(key, rendering)
  const manifests = await rendering
  return isOfTest ? manifests.replaceAll(ANY_NAMESPACE, namespace) : manifests
}

/** The same, whether it was rendered before or not. */
export function renderAnew({ namespace = 'punctual', ...given }: RenderOptions): Promise<string> {
  return helm(['template', 'punctual', CHART, '--namespace', namespace, ...flagsOf(given)])
}

/** What an installation would print, its manifests included. */
export function notesOf({ namespace = 'punctual', ...given }: RenderOptions = {}): Promise<string> {
  return helm(['install', 'punctual', CHART, '--dry-run=client', '--namespace', namespace, ...flagsOf(given)])
}

/** `helm install` or `helm upgrade` of a release called punctual, without waiting for pods. */
export function applyChart(
  verb: 'install' | 'upgrade',
  { set, values, namespace = 'punctual', ...options }: RenderOptions & HelmOptions,
): Promise<string> {
  const given = { ...(set && { set }), ...(values && { values }) }
  return helm([verb, 'punctual', CHART, '--namespace', namespace, ...flagsOf(given)], options)
}

function flagsOf({ set = [], values }: RenderOptions): string[] {
  const whole = values === undefined ? [] : ['--set-json', JSON.stringify(values)]
  return [...whole, ...set.flatMap((one) => ['--set', one])]
}
