/** Bounds of this folder alone; those the whole service shares stand in `domain/limits.ts`. */

/** Sockets one process holds open, in use or idle. */
export const SOCKETS_MAX_DEFAULT = 4096
/** Idle sockets kept for reuse over all targets; the one idle longest goes first. */
export const IDLE_SOCKETS_MAX_DEFAULT = 1024
/**
 * How long an idle socket is kept when the target names no time. Below the 5 s of common servers, so that a socket
 * is rarely written to while the other end closes it.
 */
export const KEEP_ALIVE_MS = 4_000
/** The most a target's `Keep-Alive: timeout` is believed, and how much earlier we close. */
export const KEEP_ALIVE_MS_MAX = 30_000
export const KEEP_ALIVE_MARGIN_MS = 1_000
/** An older socket is not reused, so that a changed DNS record or certificate is seen. */
export const CONNECTION_AGE_MS_MAX = 60_000
/** Addresses of one name that are tried, half of each family when both have as many. */
export const ADDRESSES_TRIED_MAX = 8
/** Head start of an address before the next one is tried beside it (RFC 8305 §5). */
export const CONNECTION_ATTEMPT_DELAY_MS = 250
/**
 * A call towards whose target this machine has no free port waits so often, and for so long, the time doubled from one
 * look at that target to the next: less than the shortest `timeout_seconds` in all.
 */
export const PORT_WAITS_MAX = 3
export const PORT_WAIT_MS_MIN = 50
export const PORT_WAIT_MS_MAX = 250
/** Targets that are known to be out of ports. */
export const PORT_SHORTAGES_MAX = 1_024
/** A fault of this machine is logged at most so often, with how many calls it met since. */
export const FAULT_LOG_MS = 60_000
/** A target that sends more 1xx answers than this before a final one is cut off. */
export const INTERIM_RESPONSES_MAX = 32

/** One query to one name server, doubled at the second try; both fit into DNS_TIMEOUT_MS. */
export const DNS_TRY_MS = 1_500
export const DNS_TRIES = 2
/** How long the other address family may lag once one has answered (RFC 8305 §3 says 50 ms; a slow server needs more). */
export const DNS_FAMILY_GRACE_MS = 250
/** Answers are reused for their TTL within these bounds. Each use is checked against the policy again. */
export const DNS_CACHE_MS_MIN = 1_000
export const DNS_CACHE_MS_MAX = 5_000
export const DNS_CACHE_NAMES_MAX = 10_000
/** `/etc/hosts` and `/etc/resolv.conf` are read again after this long. */
export const SYSTEM_NAMES_MS = 5_000
