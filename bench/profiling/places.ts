/** A function in a profile, as V8 names it. */
export interface CallFrame {
  readonly functionName: string
  /** Empty for native code. */
  readonly url: string
}

export const SOCKET_WRITES = 'writes to sockets, in the kernel'
export const NATIVE = 'event loop, reads of sockets and other native code'
export const COLLECTION = 'garbage collection'
export const PARSING = 'HTTP parsing'
const HTTP = 'rest of `node:http`'
const SOCKETS = 'sockets, streams and events of Node'
const REST_OF_NODE = 'rest of Node'
const OTHER_PACKAGES = 'other packages'

/** What is ours starts so; the folder follows. */
export const OUR_CODE = 'src/'

/** In the order of the page; our folders follow. */
export const OUTER_PLACES: readonly string[] = [
  SOCKET_WRITES,
  NATIVE,
  COLLECTION,
  PARSING,
  HTTP,
  SOCKETS,
  REST_OF_NODE,
  '`undici`',
  '`ioredis`',
  OTHER_PACKAGES,
]

/** Methods of a socket's handle. They return when the kernel has taken the bytes, so their time is the system call's. */
const WRITES = /^write(?:v|Buffer|(?:Utf8|Latin1|Ascii|Ucs2)String)$/
/** Node's libraries: what is spent in them is spent by whoever calls them. */
const LIBRARIES =
  /^node:(?:internal\/)?(?:buffer|crypto|errors|perf|querystring|string_decoder|url|util|validators|zlib)\b/

/**
 * Where the time or the bytes of a function go on the page. Native functions and those of Node's libraries belong to
 * their caller, because it decides to call them.
 */
export function placeOf({ functionName, url }: CallFrame, callersPlace: string): string {
  if (url === '') return placeOfNative(functionName, callersPlace)
  if (url.startsWith('wasm:')) return PARSING
  if (url.startsWith('node:')) return LIBRARIES.test(url) ? callersPlace : placeInNode(url)
  const packageName = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  if (packageName !== undefined) return placeOfPackage(packageName)
  return OUR_CODE + (/\/dist\/src\/([^/]+)\//.exec(url)?.[1] ?? 'main')
}

function placeOfNative(functionName: string, callersPlace: string): string {
  if (WRITES.test(functionName)) return SOCKET_WRITES
  if (functionName === '(garbage collector)' || functionName === '(GC)') return COLLECTION
  // Names in parentheses stand for what runs outside of any function: `(program)`, `(V8 API)`, `(root)`.
  return functionName.startsWith('(') ? NATIVE : callersPlace
}

/** Undici's parser is WebAssembly; Node's is native, and calls the functions of this module. */
function placeInNode(url: string): string {
  if (url === 'node:_http_common') return PARSING
  if (url.startsWith('node:_http_')) return HTTP
  return /^node:(?:net|events|internal\/(?:stream|net))/.test(url) ? SOCKETS : REST_OF_NODE
}

function placeOfPackage(name: string): string {
  if (name === 'undici') return '`undici`'
  return name === 'ioredis' || name.startsWith('@ioredis/') ? '`ioredis`' : OTHER_PACKAGES
}
