/** Further characters of a header that a client chose say nothing about its device. */
const READ_CHARACTERS_MAX = 512

/** The first that a header contains: browsers name those that they descend from as well, so those stand below. */
const BROWSERS: ReadonlyArray<readonly [mark: RegExp, name: string]> = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:(?:Headless)?Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ (?:Mobile\/\w+ )?Safari\//, 'Safari'],
]
/** Android names Linux, and an iPhone names Mac OS X. */
const SYSTEMS: ReadonlyArray<readonly [mark: RegExp, name: string]> = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac(?:intosh| OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]
/** The product that a program names first, such as `curl` of `curl/8.5.0`. */
const PROGRAM = /^([A-Za-z][\w.-]{0,39})\//

/** The device that a `User-Agent` names, such as `Firefox on Windows` or `curl`; at most 40 characters. null = it names none. */
export function deviceOf(userAgent: string | undefined): string | null {
  const text = (userAgent ?? '').slice(0, READ_CHARACTERS_MAX)
  const browser = firstIn(BROWSERS, text)
  const system = firstIn(SYSTEMS, text)
  if (browser !== null) return system === null ? browser : `${browser} on ${system}`
  const program = PROGRAM.exec(text)?.[1] ?? null
  return program === 'Mozilla' ? system : program
}

function firstIn(marks: typeof BROWSERS, text: string): string | null {
  return marks.find(([mark]) => mark.test(text))?.[1] ?? null
}
