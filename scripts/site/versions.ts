/**
 * `node scripts/site/versions.ts <folder>` after a version was added to the site, with no packages installed: the job that
 * may write to the site runs no code of others.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = /^\d+\.\d+\.\d+/

if (import.meta.main) writeVersions(process.argv[2] ?? '.')

/** Lists the versions of the site, newest first, and leads to the newest. */
export function writeVersions(folder: string): void {
  const versions = readdirSync(folder)
    .filter((name) => VERSION.test(name) && existsSync(join(folder, name, 'index.html')))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  const links = versions.map((version) => `<li><a href="${version}/index.html">${version}</a></li>`).join('')
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Punctual</title><meta http-equiv="refresh" content="0; url=${versions[0]}/index.html"><ul>${links}</ul></html>\n`,
  )
}
