/** Bounds of outgoing calls; those that other folders use too are in `domain/limits.ts`. */

/** Sockets one process holds open, in use or idle. */
export const SOCKETS_MAX_DEFAULT = 4096
/** Idle sockets kept for reuse over all targets; the one idle longest is closed first. */
export const IDLE_SOCKETS_MAX = 1024
/**
 * How long an idle socket is kept if the target names no time. Less than the 5 s of common servers, so that a request is
 * rarely written while the target closes the socket.
 */
export const KEEP_ALIVE_MS = 4_000
/** The highest `Keep-Alive: timeout` of a target that is respected, and how much earlier we close. */
export const KEEP_ALIVE_MS_MAX = 30_000
export const KEEP_ALIVE_MARGIN_MS = 1_000
/** An older socket is not reused, so that changes of DNS records and certificates take effect. */
export const CONNECTION_AGE_MS_MAX = 60_000
/** Addresses of one name that are tried; half of each family if both have enough. */
export const ADDRESSES_TRIED_MAX = 8
/** Sockets that connect beside another one of the same call, over all calls of a process. */
export const EXTRA_ATTEMPTS_MAX = 256
/** Head start of an address before the next one is tried in parallel (RFC 8305 §5). */
export const CONNECTION_ATTEMPT_DELAY_MS = 250
/**
 * How often and how long a call waits when this machine has no free port towards its target. The time doubles with each
 * attempt; in total it is less than the shortest `timeout_seconds`.
 */
export const PORT_WAITS_MAX = 3
export const PORT_WAIT_MS_MIN = 50
export const PORT_WAIT_MS_MAX = 250
/** Targets remembered as out of ports. */
export const PORT_SHORTAGES_MAX = 1_024
/** A target that sends more 1xx responses before the final one is cut off. */
export const INTERIM_RESPONSES_MAX = 32
/** A line of a chunked body: the size of a chunk with its extensions, or a trailer. */
export const CHUNK_LINE_BYTES_MAX = 4 * 1024
/** How often idle sockets whose time has passed are closed. */
export const IDLE_SOCKETS_SWEEP_MS = 1_000

/** Timeout of one query to one name server, doubled at the second try; both fit into DNS_TIMEOUT_MS. */
export const DNS_TRY_MS = 1_500
export const DNS_TRIES = 2
/** How long to wait for the other address family once one has answered (RFC 8305 §3 says 50 ms; slow servers need more). */
export const DNS_FAMILY_GRACE_MS = 250
/** Answers are reused for their TTL within these bounds. Every use is checked against the egress policy. */
export const DNS_CACHE_MS_MIN = 1_000
export const DNS_CACHE_MS_MAX = 5_000
export const DNS_CACHE_NAMES_MAX = 10_000
/** `/etc/hosts` and `/etc/resolv.conf` are read again after this long. */
export const SYSTEM_NAMES_MS = 5_000
