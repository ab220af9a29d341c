/** The fault matrix: what may go wrong, and which tests of the other suites try it. Those under load are scenarios. */
export interface Row {
  readonly row: string
  readonly fault: string
  readonly tests: readonly Proof[]
  /** Why something of it is not tried here, and what comes nearest. */
  readonly note: string | null
}

export interface Proof {
  readonly file: string
  /** A part of the file that names the test; the whole file when it is ''. */
  readonly title: string
}

const CRASH = 'test/integration/executor/crash.test.ts'
const CRASH_MATRIX = 'test/integration/executor/crash-matrix.test.ts'
const OUTAGE = 'test/integration/redis/redis-outage.test.ts'
const FAULTS_OF_TARGETS = 'test/integration/outbound/outbound-faults.test.ts'

export const ROWS: readonly Row[] = [
  row('F01', 'an executor is killed before or after it claims', [
    [CRASH, 'that dies before or after Redis runs a step'],
    [CRASH_MATRIX, 'lose nothing and double only what a kill hit in flight'],
  ]),
  row('F02', 'an executor is killed while calls are open', [
    [CRASH, 'that is killed mid-flight loses nothing'],
    [CRASH_MATRIX, 'lose nothing and double only what a kill hit in flight'],
  ]),
  row('F03', 'an executor is killed between the end of a job and its callback or alert', [
    [CRASH_MATRIX, 'lose nothing and double only what a kill hit in flight'],
    [
      'test/integration/standalone/notified-crash.test.ts',
      'a message whose executor is killed goes out again',
    ],
  ]),
  row('F04', 'an executor is told to stop while calls are open, once or twice', [
    [CRASH, 'that stops claims no more'],
    [CRASH, 'that gets a second signal'],
    ['test/integration/executor/rolling-restart.test.ts', 'of every API and executor in turn fails no push'],
  ]),
  row('F05', 'an executor freezes for longer than its lease and wakes', [
    [CRASH, 'that freezes past its lease changes nothing when it wakes'],
    [CRASH_MATRIX, 'until $until ends its job once'],
  ]),
  row(
    'F06',
    'the event loop of an executor is blocked for longer than its lease',
    [
      ['test/simulation/even-seeds.test.ts', ''],
      ['test/simulation/odd-seeds.test.ts', ''],
    ],
    'A blocked loop is to Redis and to the target what a frozen process is: the figures of F05 stand for it.',
  ),
  row('F07', 'an executor is cut off from Redis and still reaches its targets', [
    [OUTAGE, 'cannot be reached from one executor, another takes its jobs'],
  ]),
  row(
    'F08',
    'an executor runs out of memory, files or ports',
    [
      ['test/integration/executor/out-of-files.test.ts', ''],
      ['test/integration/outbound/port-shortage.test.ts', 'a target without free ports fails its own calls'],
      ['test/integration/executor/executor-memory.test.ts', ''],
    ],
    'A kill for lack of memory is a SIGKILL: the figures of F02 stand for it.',
  ),
  row(
    'F09',
    'Redis is killed and started again',
    [
      [OUTAGE, 'is killed and started again under load'],
      [
        'test/integration/standalone/standalone.test.ts',
        'killed with its Redis, as a machine dies, loses nothing',
      ],
    ],
    'Valkey is struck where a `valkey-server` is on PATH; Debian bookworm has none.',
  ),
  row(
    'F10',
    'the machine of Redis loses power',
    [
      [
        'test/integration/standalone/redis-child/redis-child.test.ts',
        'cuts off the torn end that a power cut leaves',
      ],
    ],
    'No machine loses power here: the end of the append-only file is cut. Jobs that were accepted then count as lost, and the API has to tell of them.',
  ),
  row(
    'F11',
    'Redis fails over to a replica, or hands a slot to another primary',
    [
      ['test/integration/redis/redis-sentinel.test.ts', 'the primary is found by its name'],
      ['test/integration/redis/durability/durability.test.ts', ''],
      ['test/model/cluster/slot-migration.test.ts', 'is refused whole'],
    ],
    'With `relaxed` what a replica has not received is lost, and has to be told; with `replicated` nothing is lost. A Cluster is refused with `replicated`. On one machine replicas lag by less than a millisecond, so some scenarios take them away for half a second before the primary dies.',
  ),
  row('F12', 'Redis comes back empty, or with less than it had', [
    [OUTAGE, 'loses all its data, every role ends and says so'],
  ]),
  row('F13', 'Redis reaches its limit of memory', [
    [OUTAGE, 'is full, pushes are refused, running jobs end'],
    ['test/integration/api/full-store.test.ts', 'when Redis is full, what is refused leaves nothing'],
  ]),
  row('F14', 'Redis evicts keys, or keeps no append-only file', [
    ['test/integration/redis/unsafe-redis.test.ts', ''],
    ['test/integration/redis/lazy-engine.test.ts', 'a Redis that comes late and evicts keys'],
  ]),
  row(
    'F15',
    'the disk of Redis is full',
    [
      ['test/unit/redis/base/client/faults.test.ts', 'MISCONF'],
      ['test/integration/redis/redis-away.test.ts', 'a Redis that answers and takes no writes'],
    ],
    'A small disk needs the right to mount one: a Redis that takes no writes is what comes nearest.',
  ),
  row('F16', 'Redis is slow, or stands still', [
    [OUTAGE, 'stands still until an executor is not ready'],
    [OUTAGE, 'is silent on the connections there are'],
  ]),
  row('F17', 'an API is killed while it takes pushes', [
    [CRASH, 'that dies before or after Redis runs the enqueue'],
  ]),
  row(
    'F18',
    'APIs are replaced under load, clients are slow or idle',
    [
      [
        'test/integration/executor/rolling-restart.test.ts',
        'of every API and executor in turn fails no push',
      ],
      ['test/unit/api/api-connections.test.ts', 'that are idle end after some seconds'],
    ],
    'A load balancer before two APIs is a Service of Kubernetes: `make e2e` restarts every pod under pushes.',
  ),
  row(
    'F19',
    'the controller that leads is killed or frozen',
    [
      ['test/cluster/elector.test.ts', 'a leader that is killed is followed'],
      ['test/e2e/losses/ticks.ts', 'ticks are neither lost nor doubled'],
    ],
    'Needs a Kubernetes API. Executors tick crons by Redis alone, with or without a leader.',
  ),
  row(
    'F20',
    'the Kubernetes API is away, slow or refuses',
    [
      ['test/cluster/api-server-outage.test.ts', 'the copy stays readable'],
      ['test/e2e/alone/api-server-outage.ts', 'pushes and calls go on'],
    ],
    'Needs a Kubernetes API.',
  ),
  row(
    'F21',
    'a watch of the Kubernetes API is dropped in silence',
    [
      ['test/integration/kubernetes/informer/reflector-watch.test.ts', 'a half-open watch is abandoned'],
      ['test/integration/kubernetes/informer/reflector-seeds.test.ts', ''],
    ],
    'Needs a Kubernetes API.',
  ),
  row(
    'F22',
    'a node is drained, a namespace deleted',
    [
      ['test/e2e/alone/drain.ts', 'fails no push and ends no call early'],
      ['test/e2e/releases/removal.ts', 'leaves nothing, whatever is under way'],
    ],
    'Needs a Kubernetes cluster.',
  ),
  row(
    'F23',
    'the clock of a pod is wrong or jumps',
    [
      ['test/integration/executor/crons.test.ts', 'even if the clock of the deciding executor is wrong'],
      ['test/simulation/even-seeds.test.ts', ''],
      ['test/simulation/odd-seeds.test.ts', ''],
    ],
    'Processes of one machine have one clock: the simulation gives each its own.',
  ),
  row(
    'F24',
    'a cron meets a change of daylight saving time, a leap day, an outage over many ticks',
    [
      ['test/model/crons/cron-zones.test.ts', ''],
      ['test/model/crons/cron-calendar.test.ts', ''],
      ['test/integration/executor/crons.test.ts', 'that was due while no executor ran makes one run for all'],
    ],
    'Needs years: tests with their own clock replay them.',
  ),
  row('F25', 'a target refuses, resets, hangs, drips or lies', [
    [FAULTS_OF_TARGETS, 'a port nobody listens on'],
    [FAULTS_OF_TARGETS, 'a body that drips'],
    ['test/integration/outbound/outbound-interim.test.ts', ''],
  ]),
  row('F26', 'a target answers without end', [
    [FAULTS_OF_TARGETS, 'an endless one is cut off and counts as answered'],
    ['test/integration/isolated/outbound-memory.test.ts', ''],
  ]),
  row('F27', 'a target redirects', [[FAULTS_OF_TARGETS, 'a redirect is an answer and is not followed']]),
  row('F28', 'TLS of a target fails', [['test/integration/outbound/outbound-tls.test.ts', '']]),
  row('F29', 'names do not resolve, or resolve to private addresses', [
    ['test/integration/outbound/outbound-dns.test.ts', ''],
  ]),
  row(
    'F30',
    'very many jobs are due at once',
    [['test/integration/executor/executor-sockets.test.ts', 'a slow target takes as many calls']],
    'A load for idle cores: `node bench/crons.ts` and [performance](performance.md) have the figures.',
  ),
  row('F31', 'a team fills its queues with calls that hang', [
    ['test/integration/executor/shares.test.ts', 'remain for another team'],
  ]),
  row('F32', 'a job takes down each executor that calls it', [
    [CRASH, 'whose job kills it each time fails the attempt as executor_lost'],
  ]),
  row('F33', 'a queue is paused, edited or deleted while its jobs run', [
    ['test/integration/api/lifecycle/lifecycle-queues.test.ts', 'that is deleted takes all its jobs along'],
    ['test/model/jobs/queues/queue-steps.test.ts', 'a deleted queue leaves nothing of any kind behind'],
  ]),
  row('F34', 'the channels of alerts are down, slow or refuse', [
    ['test/integration/outbound/senders/chat-services.test.ts', 'a service that is away'],
    ['test/integration/outbound/senders/mail.test.ts', 'a server that hangs is given up'],
  ]),
  row('F35', 'connections to Redis are slow, cut and lossy', [
    [OUTAGE, 'is slow and drops connections in the middle of answers'],
    [CRASH, 'whose replies are lost does everything once'],
  ]),
  row('F36', 'two versions run side by side', [
    ['test/integration/versions/side-by-side.test.ts', 'do all that one version does, once each'],
    ['test/e2e/releases/upgrade.ts', 'from the release before loses no job'],
  ]),
]

function row(
  name: string,
  fault: string,
  tests: ReadonlyArray<readonly [file: string, title: string]>,
  note: string | null = null,
): Row {
  return { row: name, fault, tests: tests.map(([file, title]) => ({ file, title })), note }
}
