/**
 * Starts a real etcd, kube-apiserver and, by default, kube-controller-manager: on loopback, with RBAC, without nodes. They are
 * stopped with SIGKILL, because the API server may take long after SIGTERM and nothing here outlives the test.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openKubernetesApi, type ClusterAccess } from './kubernetes-api.ts'
import { writeAccount } from './pod-environment.ts'
import { freePort } from '../servers/redis-server.ts'
import { until } from '../until.ts'

/** On two busy cores; three seconds on an idle machine. */
const READY_TIMEOUT_MS = 60_000
const LOG_TAIL_CHARS = 2_000

export interface ControlPlaneOptions {
  /** Holds etcd, kube-apiserver and kube-controller-manager; scripts/control-plane.sh prints it. */
  readonly binaries: string
  /** Without it nothing collects garbage, empties namespaces or creates the pods of Deployments. */
  readonly controllerManager?: boolean
}

export interface ControlPlane {
  /** As a member of system:masters. */
  readonly access: ClusterAccess
  /** The same for kubectl, as a file; gone after `stop`. */
  readonly kubeconfig: string
  /** The same again as the files that Kubernetes mounts into a pod: `token` and `ca.crt`. */
  readonly accountFolder: string
  /** Of etcd, which anybody on this machine may read. */
  readonly etcdUrl: string
  /** Disconnects every client; etcd keeps the data. */
  stopApiServer(): Promise<void>
  /** At the same address, with the same certificate. */
  startApiServer(): Promise<void>
  stop(): Promise<void>
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const plan = await planFor(options.binaries)
  const running = new Map<string, ChildProcess>()
  const start = (name: string, settings: readonly string[]) =>
    running.set(name, startIn(plan, name, settings))
  const kill = async (name: string) => {
    const child = running.get(name)
    running.delete(name)
    if (child !== undefined) await killed(child)
  }
  const startApiServer = async () => {
    start('kube-apiserver', apiServerSettings(plan))
    await ready(plan, running)
  }
  const stop = async () => {
    await Promise.all([...running.keys()].map(kill))
    rmSync(plan.folder, { recursive: true, force: true })
  }
  try {
    start('etcd', etcdSettings(plan))
    await startApiServer()
    const access = { url: plan.url, caPem: readFileSync(plan.certificate, 'utf8'), token: plan.adminToken }
    const kubeconfig = writeKubeconfig(plan, 'admin', access)
    const accountFolder = writeAccount(access, join(plan.folder, 'account'))
    if (options.controllerManager ?? true) {
      start('kube-controller-manager', controllerManagerSettings(plan, access))
    }
    const etcdUrl = `http://127.0.0.1:${plan.etcdPort}`
    const stopApiServer = () => kill('kube-apiserver')
    return { access, kubeconfig, accountFolder, etcdUrl, startApiServer, stopApiServer, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** What is settled before anything runs. */
interface Plan {
  readonly binaries: string
  readonly folder: string
  readonly url: string
  readonly apiServerPort: number
  readonly etcdPort: number
  readonly etcdPeerPort: number
  readonly adminToken: string
  readonly controllerManagerToken: string
  /** Created by the API server; the second certificate in the file is the CA. */
  readonly certificate: string
  readonly serviceAccountKey: string
  readonly tokens: string
}

async function planFor(binaries: string): Promise<Plan> {
  const [apiServerPort, etcdPort, etcdPeerPort] = [await freePort(), await freePort(), await freePort()]
  const folder = mkdtempSync(join(tmpdir(), 'punctual-control-plane-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const plan = {
    binaries,
    folder,
    url: `https://127.0.0.1:${apiServerPort}`,
    apiServerPort,
    etcdPort,
    etcdPeerPort,
    adminToken: randomBytes(16).toString('hex'),
    controllerManagerToken: randomBytes(16).toString('hex'),
    certificate: join(folder, 'certificates', 'apiserver.crt'),
    serviceAccountKey: join(folder, 'service-account.key'),
    tokens: join(folder, 'tokens.csv'),
  }
  mkdirSync(join(folder, 'certificates'))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(plan.serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }))
  writeFileSync(
    plan.tokens,
    `${plan.adminToken},admin,admin,"system:masters"\n` +
      `${plan.controllerManagerToken},system:kube-controller-manager,controller-manager\n`,
  )
  return plan
}

function etcdSettings({ folder, etcdPort, etcdPeerPort }: Plan): string[] {
  const [clients, peers] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${etcdPeerPort}`]
  return [
    '--data-dir',
    join(folder, 'etcd'),
    '--unsafe-no-fsync',
    '--log-level',
    'warn',
    '--listen-client-urls',
    clients,
    '--advertise-client-urls',
    clients,
    '--listen-peer-urls',
    peers,
    '--initial-advertise-peer-urls',
    peers,
    '--initial-cluster',
    `default=${peers}`,
  ]
}

function apiServerSettings(plan: Plan): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${plan.etcdPort}`,
    `--secure-port=${plan.apiServerPort}`,
    `--cert-dir=${join(plan.folder, 'certificates')}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    '--authorization-mode=RBAC',
    `--token-auth-file=${plan.tokens}`,
    '--allow-privileged',
    `--service-account-issuer=${plan.url}`,
    `--service-account-signing-key-file=${plan.serviceAccountKey}`,
    `--service-account-key-file=${plan.serviceAccountKey}`,
    '--service-cluster-ip-range=10.96.0.0/16',
  ]
}

/** With its default rate limits a new namespace would wait seconds for its ServiceAccount. */
function controllerManagerSettings(plan: Plan, access: ClusterAccess): string[] {
  const kubeconfig = writeKubeconfig(plan, 'controller-manager', {
    ...access,
    token: plan.controllerManagerToken,
  })
  return [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--use-service-account-credentials',
    '--secure-port=0',
    '--kube-api-qps=300',
    '--kube-api-burst=600',
    `--root-ca-file=${plan.certificate}`,
    `--service-account-private-key-file=${plan.serviceAccountKey}`,
  ]
}

/** JSON is YAML. */
function writeKubeconfig(plan: Plan, user: string, access: ClusterAccess): string {
  const file = join(plan.folder, `${user}.kubeconfig`)
  const authority = Buffer.from(access.caPem).toString('base64')
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: access.url, 'certificate-authority-data': authority } }],
    users: [{ name: user, user: { token: access.token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
  }
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 })
  return file
}

/** On Linux the kernel kills the process when this one dies for whatever reason. */
function startIn({ binaries, folder }: Plan, name: string, settings: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), 'a')
  const command = [join(binaries, name), ...settings]
  const leash = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL'] : []
  const [file = '', ...given] = [...leash, ...command]
  // Memory is not short where CPU is: garbage is collected a quarter as often.
  const env = { ...process.env, GOGC: '400' }
  const child = spawn(file, given, { cwd: folder, env, stdio: ['ignore', log, log] })
  closeSync(log)
  const killIt = () => child.kill('SIGKILL')
  process.once('exit', killIt)
  child.once('exit', () => process.off('exit', killIt))
  // A command that cannot be started ends at once; `ready` reports its log.
  child.once('error', (error) => writeFileSync(join(folder, `${name}.log`), error.message, { flag: 'a' }))
  return child
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

async function killed(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
}

async function ready(plan: Plan, running: ReadonlyMap<string, ChildProcess>): Promise<void> {
  await until(
    'the API server is ready',
    async () => {
      const ended = [...running].find(([, child]) => hasEnded(child))
      if (ended !== undefined) throw new Error(`${ended[0]} ended: ${logTail(plan, ended[0])}`)
      return existsSync(plan.certificate) && (await isReady(plan))
    },
    READY_TIMEOUT_MS,
  )
}

async function isReady({ url, certificate, adminToken }: Plan): Promise<boolean> {
  const api = openKubernetesApi({ url, caPem: readFileSync(certificate, 'utf8'), token: adminToken })
  try {
    return await api.isReady()
  } catch {
    return false
  } finally {
    await api.close()
  }
}

function logTail({ folder }: Plan, name: string): string {
  return readFileSync(join(folder, `${name}.log`), 'utf8').slice(-LOG_TAIL_CHARS)
}
