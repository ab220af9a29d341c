/** Bounds of this folder alone; those the whole service shares stand in `domain/limits.ts`. */

// Requests.
/** From the call to the last byte of the answer, waiting for the bucket and retries included. */
export const REQUEST_TIMEOUT_MS = 30_000
export const CONNECT_TIMEOUT_MS = 10_000
/** Connections for everything but watches and what is urgent. Each watch has one of its own. */
export const API_CONNECTIONS_MAX = 4
/** The Lease is renewed on it, one request at a time, also while all others hang. */
export const URGENT_CONNECTIONS_MAX = 1
export const WATCH_CONNECTIONS_MAX = 256
/** Below the 90 s or more of API servers and of the balancers before them. */
export const KEEP_ALIVE_MS = 30_000
/** TCP probes of a silent connection; the same as client-go. */
export const TCP_KEEP_ALIVE_MS = 30_000
/**
 * Against a mistake of our own. The API server shares itself out among its clients (API Priority and Fairness), and of ours
 * four requests at most are under way, each sent when the one before has been answered: the slower it gets, the fewer come.
 */
export const REQUESTS_PER_SECOND = 500
export const REQUESTS_BURST = 500
/** Tries of one request that the server asked to send later. */
export const TRIES_MAX = 5
/** The most a Retry-After is believed. */
export const RETRY_AFTER_MS_MAX = 60_000
/** A list of all objects at once, the answer to an expired page, is the longest. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024
export const ERROR_TEXT_CHARACTERS_MAX = 1_000

// Lists and watches; the first pause is that of client-go.
export const LIST_PAGE_OBJECTS = 500
/** A page is text and objects at once, beside all that is known, in a process of a few hundred MiB. */
export const LIST_PAGE_BYTES_MAX = 16 * 1024 * 1024
/** What a page that is too large is divided by. */
export const LIST_PAGE_CUT = 10
/** As many always fit: etcd takes 1.5 MiB an object. */
export const LIST_PAGE_OBJECTS_MIN = 5
/** A list whose pages have asked for more is a fault. */
export const LIST_OBJECTS_MAX = 200_000
/** Each watch asks for a time of its own in this range, so that not all are opened anew at once. */
export const WATCH_SECONDS_MIN = 300
export const WATCH_SECONDS_MAX = 600
/** Bookmarks come about every minute: a watch without a byte for this long is dead, whatever TCP says. */
export const WATCH_SILENCE_MS = 150_000
/** A watch that the server ends sooner than this is opened again only after a pause. */
export const WATCH_SHORT_MS = 1_000
/** Watches in a row that began and told nothing before all is listed again: their version may be of another past. */
export const WATCHES_BARREN_MAX = 3
/** One object is at most 1.5 MiB in etcd; as JSON it may be longer. */
export const WATCH_EVENT_BYTES_MAX = 16 * 1024 * 1024
export const RETRY_PAUSE_MS_MIN = 800
/** Not the 30 s of client-go: after an outage, changes are in force within 15 s. */
export const RETRY_PAUSE_MS_MAX = 10_000
/** After this long without a failure the pauses begin anew. */
export const RETRY_HEALTHY_MS = 120_000
