/** The texts of a 422, in Laravel's wording. A name shows `_` as a space; the path of an item stays as it is. */
function shown(field: string): string {
  return field.includes('.') ? field : field.replaceAll('_', ' ')
}

/** @param predicate the rest of a sentence that starts with the field's name */
const sentence = (predicate: string) => (field: string) => `The ${shown(field)} field ${predicate}`

export const required = sentence('is required.')
export const cannotChange = sentence('cannot be changed.')
export const mustBeString = sentence('must be a string.')
export const mustBeStringOrObject = sentence('must be a string or an object.')
export const mustBeObject = sentence('must be an object.')
export const mustBeArray = sentence('must be an array.')
export const mustBeInteger = sentence('must be an integer.')
export const mustBeBoolean = sentence('must be true or false.')
export const mustHaveValue = sentence('must have a value.')
export const mustBeGivenOnce = sentence('must be given only once.')
export const mustBeNextCursor = sentence('must be the next_cursor of this list under the same filters.')
export const mustBeWellFormed = sentence('must be valid Unicode text.')
export const mustBeUrl = sentence('must be a valid URL.')
export const mustNotCarryCredentials = sentence('must not contain a user name or password.')
export const mustNotBeBlocked = sentence('must not point to a blocked address.')
export const mustBeTimestamp = sentence('must be a valid ISO 8601 timestamp with an offset.')
export const mustBeTimeOrSpan = sentence(
  'must be a valid ISO 8601 timestamp with an offset, or a span back from now such as 15m, 1h or 7d.',
)
export const tooManyQueuesToOrder = sentence(
  'cannot list this many queues by time: name a queue, or list by queue.',
)
export const mustBeHost = sentence('must be a host name or address without a port.')
export const mustBeTag = sentence('must be the name of a tag, a colon, and its value.')
export const mustBeBase64 = sentence('must be base64 with its padding.')
export const mustBeContentType = sentence('must be a media type such as text/xml; charset=utf-8.')
export const mustBeHeaderValue = sentence('must be a valid header value.')
export const mustBeHeaderSecret = sentence('must be the name of a header secret of the team.')
export const mustNotGoToHost = sentence('names a header secret that may not go to the host of the URL.')
export const mustNotRepeat = sentence('has a duplicate value.')
export const mustBeVisibleAscii = sentence('must be visible ASCII characters.')
export const alreadyUsed = sentence('was already used with another request.')

export const CRON_EXPRESSION_REQUIRED = 'A cron expression is required.'

/** An unknown name is shown as given. */
export const unknownField = (field: string): string => `The ${field} field is unknown.`

export const moreUnknownFields = (named: number): string =>
  `There are more unknown fields than these ${named}.`

export const selectedInvalid = (field: string): string => `The selected ${shown(field)} is invalid.`

export const mustBeBetween = (field: string, min: number, max: number): string =>
  sentence(`must be between ${min} and ${max}.`)(field)

export const mustHaveItemsBetween = (field: string, min: number, max: number): string =>
  sentence(`must have between ${min} and ${max} items.`)(field)

export const mustNotHaveMoreItems = (field: string, max: number): string =>
  sentence(`must not have more than ${max} items.`)(field)

export const mustNotBeLonger = (field: string, max: number): string =>
  sentence(`must not be greater than ${max} characters.`)(field)

export const mustNotBeMoreBytes = (field: string, max: number): string =>
  sentence(`must not be greater than ${max} bytes.`)(field)

export const mustNotBeDeeper = (field: string, max: number): string =>
  sentence(`must not be nested deeper than ${max} levels.`)(field)

export const mustNotHoldMoreValues = (field: string, max: number): string =>
  sentence(`must not hold more than ${max} values.`)(field)

export const namesMustBeBetween = (field: string, max: number): string =>
  sentence(`must have names of 1 to ${max} characters.`)(field)

export const mustNotBeMask = sentence('must be the real value, not the text that is shown in its place.')

/** For an edit that keeps a header by giving its mask. */
export const keepsNothing = sentence('cannot be kept: there is no such header yet.')

/** Refuses an edit or copy that would take secret headers to another origin. */
export const mustBeGivenAnew = sentence('must be given again: a hidden value is not sent to another origin.')

export const mustNotBeLater = (field: string, days: number): string =>
  sentence(`must not be more than ${days} days ahead.`)(field)

export const onlyForNewJobs = sentence('is only for the actions retry and replay.')

export const prohibits = (field: string, other: string): string =>
  sentence(`prohibits ${shown(other)} from being present.`)(field)

/** @param others what would do instead */
export const requiredWithout = (field: string, others: readonly string[]): string =>
  sentence(`is required when none of ${others.map(shown).join(' / ')} are present.`)(field)

/** @param reason a predicate without its full stop */
export const refusedBecause = (field: string, reason: string): string => sentence(`${reason}.`)(field)

/** @param predicate with its full stop */
export const refusedAs = (field: string, predicate: string): string => sentence(predicate)(field)
