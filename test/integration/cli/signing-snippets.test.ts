/** The code on the page about signatures, taken from the page and run on what the product signs. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appendSignatureHeaders } from '../../../src/outbound/exchange/signing.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { isInstalled } from '../../support/tools.ts'

const run = promisify(execFile)
const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/reference/signing.md'), 'utf8')
const SECTION = PAGE.slice(
  PAGE.indexOf('\n## Verify with one HMAC\n'),
  PAGE.indexOf('\n## See what arrives\n'),
)
const snippetOf = (language: string) =>
  new RegExp(`\n\`\`\`${language}\n(.*?)\`\`\`\n`, 's').exec(SECTION)?.[1] ?? ''

const NEW = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OLD = 'an older secret, wholly in plain text: ü'

/** A case on a line: timestamp, signature, previous signature, body in base64, secret in base64. */
function lineOf(
  body: string | null,
  change: {
    secrets?: string[]
    ageSeconds?: number
    verifiedWith?: string
    received?: string
    drop?: boolean
  } = {},
): string {
  const signingSecrets = change.secrets ?? [NEW]
  const timestampSeconds = Math.round(Date.now() / 1000) - (change.ageSeconds ?? 0)
  const headers: string[] = []
  appendSignatureHeaders(
    headers,
    { webhookId: 'w', timestampSeconds, body: body === null ? null : Buffer.from(body) },
    { ...NO_TEAM_SETTINGS, signingSecrets },
  )
  const valueOf = (name: string) => (change.drop === true ? '' : (headers[headers.indexOf(name) + 1] ?? ''))
  const previous = headers.includes('X-Punctual-Signature-Previous')
    ? valueOf('X-Punctual-Signature-Previous')
    : ''
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return [
    valueOf('X-Punctual-Timestamp'),
    valueOf('X-Punctual-Signature'),
    previous,
    base64(change.received ?? body ?? ''),
    base64(change.verifiedWith ?? NEW),
  ].join('\t')
}

const CASES: ReadonlyArray<readonly [line: () => string, isValid: boolean]> = [
  [() => lineOf('{"order": 12345}'), true],
  [() => lineOf(null), true],
  [() => lineOf('ä€𝄞\r\n\u0000'), true],
  [() => lineOf('{}', { secrets: [NEW, OLD], verifiedWith: OLD }), true],
  [() => lineOf('{}', { secrets: [NEW, OLD] }), true],
  [() => lineOf('{}', { secrets: [OLD], verifiedWith: OLD }), true],
  [() => lineOf('{}', { ageSeconds: 250 }), true],
  [() => lineOf('{}', { ageSeconds: 400 }), false],
  [() => lineOf('{}', { ageSeconds: -400 }), false],
  [() => lineOf('{"a":1}', { received: '{"a": 1}' }), false],
  [() => lineOf('{}', { secrets: [OLD] }), false],
  [() => lineOf('{}', { drop: true }), false],
]

interface Language {
  readonly name: string
  readonly program: string
  /** Around the snippet: reads the file of cases, prints true or false for each. */
  readonly file: string
  readonly write: (snippet: string) => string
  /** Compiles it to `verify`; the cases are signed afterwards, as they age. */
  readonly compile?: readonly string[]
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'js',
    program: process.execPath,
    file: 'verify.mjs',
    write: (snippet) => `${snippet}
import { readFileSync } from 'node:fs'
for (const line of readFileSync('cases', 'utf8').split('\\n')) {
  const [timestamp, signature, previous, body, secret] = line.split('\\t')
  const headers = Object.fromEntries([['x-punctual-timestamp', timestamp], ['x-punctual-signature', signature],
    ['x-punctual-signature-previous', previous]].filter(([, value]) => value !== ''))
  console.log(isFromPunctual(headers, Buffer.from(body, 'base64'), Buffer.from(secret, 'base64').toString()))
}`,
  },
  {
    name: 'python',
    program: 'python3',
    file: 'verify.py',
    write: (snippet) => `${snippet}
import base64
for line in open("cases").read().split("\\n"):
    timestamp, signature, previous, body, secret = line.split("\\t")
    headers = {"X-Punctual-Timestamp": timestamp, "X-Punctual-Signature": signature, "X-Punctual-Signature-Previous": previous}
    headers = {name: value for name, value in headers.items() if value}
    print(str(is_from_punctual(headers, base64.b64decode(body), base64.b64decode(secret).decode())).lower())`,
  },
  {
    name: 'go',
    program: './verify',
    file: 'verify.go',
    compile: ['go', 'build', '-o', 'verify', 'verify.go'],
    write: (
      snippet,
    ) => `${snippet.replace('package receiver', 'package main').replace('import (', 'import (\n"encoding/base64"\n"fmt"\n"os"\n"strings"\n')}
func main() {
	text, _ := os.ReadFile("cases")
	for _, line := range strings.Split(string(text), "\\n") {
		part := strings.Split(line, "\\t")
		headers := http.Header{}
		for index, name := range []string{"X-Punctual-Timestamp", "X-Punctual-Signature", "X-Punctual-Signature-Previous"} {
			if part[index] != "" {
				headers.Set(name, part[index])
			}
		}
		body, _ := base64.StdEncoding.DecodeString(part[3])
		secret, _ := base64.StdEncoding.DecodeString(part[4])
		fmt.Println(IsFromPunctual(headers, body, string(secret)))
	}
}`,
  },
  {
    name: 'java',
    program: 'java',
    file: 'Verify.java',
    write: (snippet) =>
      snippet.replace(
        'class PunctualSignature {',
        `class Verify {
  public static void main(String[] args) throws Exception {
    for (String line : java.nio.file.Files.readAllLines(java.nio.file.Path.of("cases"))) {
      String[] part = line.split("\\t", -1);
      java.util.Map<String, String> headers = new java.util.HashMap<>();
      String[] names = {"X-Punctual-Timestamp", "X-Punctual-Signature", "X-Punctual-Signature-Previous"};
      for (int index = 0; index < 3; index++) if (!part[index].isEmpty()) headers.put(names[index], part[index]);
      java.util.Base64.Decoder base64 = java.util.Base64.getDecoder();
      String secret = new String(base64.decode(part[4]), UTF_8);
      System.out.println(isFromPunctual(headers::get, base64.decode(part[3]), secret));
    }
  }`,
      ),
  },
  {
    name: 'ruby',
    program: 'ruby',
    file: 'verify.rb',
    write: (snippet) => `${snippet}
require "base64"
File.read("cases").split("\\n").each do |line|
  timestamp, signature, previous, body, secret = line.split("\\t", -1)
  headers = { "x-punctual-timestamp" => timestamp, "x-punctual-signature" => signature, "x-punctual-signature-previous" => previous }
  puts from_punctual?(headers.reject { |_, value| value.empty? }, Base64.decode64(body), Base64.decode64(secret))
end`,
  },
  {
    name: 'php',
    program: 'php',
    file: 'verify.php',
    write: (snippet) => `${snippet}
foreach (explode("\\n", file_get_contents('cases')) as $line) {
    [$timestamp, $signature, $previous, $body, $secret] = explode("\\t", $line);
    $headers = array_filter(['x-punctual-timestamp' => $timestamp, 'x-punctual-signature' => $signature, 'x-punctual-signature-previous' => $previous]);
    echo is_from_punctual($headers, base64_decode($body), base64_decode($secret)) ? "true\\n" : "false\\n";
}`,
  },
]

/** The first compilation by Go compiles its library. */
const COMPILE_MS = 300_000

let folder = ''
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'punctual-snippets-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the snippet in', () => {
  const languages = LANGUAGES.map((language) => [language.name, language] as const)
  test.for(languages)('%s', { timeout: COMPILE_MS }, async ([name, language], { skip }) => {
    const program = language.compile?.[0] ?? language.program
    skip(!isInstalled(program), `no ${program} on this machine`)
    const snippet = snippetOf(name)
    expect(snippet).not.toBe('')
    const own = mkdtempSync(join(folder, `${name}-`))
    writeFileSync(join(own, language.file), language.write(snippet))
    const [compiler, ...compileArgs] = language.compile ?? []
    if (compiler !== undefined) await run(compiler, compileArgs, { cwd: own })
    writeFileSync(join(own, 'cases'), CASES.map(([line]) => line()).join('\n'))
    const args = compiler === undefined ? [language.file] : []
    const { stdout } = await run(language.program, args, { cwd: own })
    expect(stdout.trim().split('\n')).toEqual(CASES.map(([, isValid]) => String(isValid)))
  })

  test('all languages of the page are run', () => {
    const named = [...SECTION.matchAll(/^```(\w+)$/gm)].map(([, name]) => name)
    expect(named).toEqual(LANGUAGES.map(({ name }) => name))
  })
})
