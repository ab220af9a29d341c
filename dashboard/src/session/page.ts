const { session, byHand, loginAt, echoAt, testClock } = document.documentElement.dataset

/** Whether this page came to a browser with a session, which may have ended; unknown counts as yes. */
export const HAS_SESSION = session !== 'none'

/** Whether the browser vouches that a person opened this page, and not another site. */
export const IS_BY_HAND = byHand !== undefined

/** The identity provider where people log in; null = there is none. */
export const LOGIN_AT = loginAt ?? null

/** A target for trying out jobs, as a standalone has one; null = there is none that jobs may call. */
export const ECHO_AT = echoAt ?? null

/** Whether the installation goes by a test clock, and not by the time of its Redis. */
export const IS_FOR_TESTS = testClock !== undefined
