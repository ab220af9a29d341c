import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'

/** Enough for Node itself to start. */
const FILES_MAX = 90
const PROGRAM = join(import.meta.dirname, 'out-of-files-process.ts')
const folder = mkdtempSync(join(tmpdir(), 'punctual-files-'))

afterAll(() => rmSync(folder, { recursive: true }))

test.each(['knows-names', 'knows-no-names'])(
  'a machine out of files gives every call back, says so once and forgets no name: %s',
  async (knows) => {
    const hosts = join(folder, 'hosts')
    writeFileSync(hosts, '127.0.0.7 printer.test\n')
    const urls = ['http://127.0.0.1:9/', 'https://127.0.0.1:9/', 'http://name.test/', 'http://other.test/']
    const command = `ulimit -n ${FILES_MAX} && exec "$0" "$@"`
    const given = ['-c', command, process.execPath, PROGRAM, hosts, knows, ...urls]
    const { stdout } = await promisify(execFile)('sh', given)
    expect(JSON.parse(stdout)).toEqual({
      ends: urls.map(() => 'local_fault'),
      logged: [{ calls: 1, reason: 'No socket could be opened on this machine.' }],
      addresses: ['127.0.0.7'],
    })
  },
)
