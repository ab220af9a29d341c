/**
 * The blocks that the tests of pages do not run: `by` names the test that does, `because` says why none can here. All
 * others are run.
 */
type Elsewhere = {
  readonly page: string
  /** The start of the block, enough to tell it from the others of its page. */
  readonly begins: string
} & ({ readonly by: string } | { readonly because: string })

const README_TEST = 'test/integration/standalone/readme.test.ts'
const README_ON_KIND = 'test/e2e/releases/readme.ts'
const STANDALONE_IMAGE = 'test/e2e/one-machine/standalone-image.ts'
const NEEDS_DOCKER = 'it needs Docker'
const ONE_MACHINE = {
  page: 'docs/how-to/run-on-one-machine.md',
  because: `${NEEDS_DOCKER}; test/e2e/one-machine runs the commands of the README, which differ in little`,
}

export const RUN_ELSEWHERE: readonly Elsewhere[] = [
  ...[
    'docker compose up ',
    'docker run ',
    'docker exec punctual punctual push ',
    'PUNCTUAL_PORT=9000 ',
    'docker stop ',
    'docker exec punctual punctual backup ',
  ].map((begins) => ({ ...ONE_MACHINE, begins })),
  { page: 'README.md', begins: 'make run ', by: README_TEST },
  { page: 'README.md', begins: 'curl -s http://127.0.0.1:8080/api/jobs \\', by: README_TEST },
  { page: 'README.md', begins: 'curl -s http://127.0.0.1:8080/api/jobs/', by: README_TEST },
  { page: 'README.md', begins: 'bin/punctual job ', by: README_TEST },
  { page: 'README.md', begins: 'bin/punctual crons create ', by: README_TEST },
  { page: 'README.md', begins: 'docker compose up ', by: 'test/e2e/one-machine/compose.ts' },
  { page: 'README.md', begins: 'docker run ', by: STANDALONE_IMAGE },
  { page: 'README.md', begins: 'docker exec ', by: STANDALONE_IMAGE },
  {
    page: 'README.md',
    begins: 'PUNCTUAL_EGRESS_ALLOW=127.0.0.0/8,localhost npx ',
    because: 'npx asks a registry, which has the package once it is published',
  },
  { page: 'README.md', begins: 'helm install ', by: README_ON_KIND },
  { page: 'README.md', begins: 'kubectl --namespace punctual port-forward ', by: README_ON_KIND },
  { page: 'README.md', begins: 'curl -s http://127.0.0.1:8081/', by: README_ON_KIND },
  { page: 'README.md', begins: 'kubectl --namespace punctual get httpqueues', by: README_ON_KIND },
  {
    page: 'README.md',
    begins: 'kubectl apply --namespace punctual -f config/samples/nightly',
    by: README_ON_KIND,
  },
  { page: 'CONTRIBUTING.md', begins: 'git clone ', because: 'it runs all tests, this one among them' },
  {
    page: 'SECURITY.md',
    begins: 'cosign verify ',
    because: 'it needs cosign, and an image that a release has signed',
  },
  {
    page: 'docs/install.md',
    begins: 'make image ',
    because: `${NEEDS_DOCKER} and a registry; the kind clusters of test/e2e run on what make image builds`,
  },
  {
    page: 'docs/reference/cli.md',
    begins: 'ln -s ',
    by: 'test/e2e/alone/plugin.ts',
  },
  { page: 'docs/reference/cli.md', begins: 'source <(', by: 'test/integration/cli/completion.test.ts' },
  {
    page: 'docs/runbooks.md',
    begins: 'grep -E ',
    because: 'only a Redis that was cut off in the middle of a write logs what it looks for',
  },
  { page: 'docs/install.md', begins: 'key() {', by: 'test/integration/redis/doctor/replace-key.test.ts' },
  {
    page: 'docs/reference/egress.md',
    begins: 'PUNCTUAL_EGRESS_DENY=',
    by: 'test/unit/outbound/egress/egress-guard.test.ts',
  },
]
