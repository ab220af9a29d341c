/**
 * The texts of a 422, in Laravel's wording: `_` of a field's name is shown as a space, the path of an item
 * (`retry_delays.0`) as it is.
 */
function shown(field: string): string {
  return field.includes('.') ? field : field.replaceAll('_', ' ')
}

const said = (what: string) => (field: string) => `The ${shown(field)} field ${what}`

export const required = said('is required.')
export const cannotChange = said('cannot be changed.')
export const mustBeString = said('must be a string.')
export const mustBeStringOrObject = said('must be a string or an object.')
export const mustBeObject = said('must be an object.')
export const mustBeArray = said('must be an array.')
export const mustBeInteger = said('must be an integer.')
export const mustBeBoolean = said('must be true or false.')
export const mustHaveValue = said('must have a value.')
export const mustBeGivenOnce = said('must be given once only.')
export const mustBeNextCursor = said('must be the next_cursor of this list under the same filters.')
export const mustBeWellFormed = said('must be valid Unicode text.')
export const mustBeUrl = said('must be a valid URL.')
export const mustNotCarryCredentials = said('must not contain a user name or password.')
export const mustNotBeBlocked = said('must not point to a blocked address.')
export const mustBeTimestamp = said('must be a valid ISO 8601 timestamp with an offset.')
export const mustBeHeaderValue = said('must be a valid header value.')
export const mustNotRepeat = said('has a duplicate value.')
export const mustBeVisibleAscii = said('must be visible ASCII characters.')
export const alreadyUsed = said('was already used with another request.')

export const CRON_EXPRESSION_REQUIRED = 'A cron expression is required.'

/** A name that is not ours is shown as given. */
export const unknownField = (field: string): string => `The ${field} field is unknown.`

export const moreUnknownFields = (named: number): string =>
  `There are more unknown fields than these ${named}.`

export const selectedInvalid = (field: string): string => `The selected ${shown(field)} is invalid.`

export const mustBeBetween = (field: string, min: number, max: number): string =>
  said(`must be between ${min} and ${max}.`)(field)

export const mustHaveItemsBetween = (field: string, min: number, max: number): string =>
  said(`must have between ${min} and ${max} items.`)(field)

export const mustNotHaveMoreItems = (field: string, max: number): string =>
  said(`must not have more than ${max} items.`)(field)

export const mustNotBeLonger = (field: string, max: number): string =>
  said(`must not be greater than ${max} characters.`)(field)

export const mustNotBeMoreBytes = (field: string, max: number): string =>
  said(`must not be greater than ${max} bytes.`)(field)

export const mustNotBeDeeper = (field: string, max: number): string =>
  said(`must not be nested deeper than ${max} levels.`)(field)

export const mustNotHoldMoreValues = (field: string, max: number): string =>
  said(`must not hold more than ${max} values.`)(field)

export const namesMustBeBetween = (field: string, max: number): string =>
  said(`must have names of 1 to ${max} characters.`)(field)

export const mustNotBeLater = (field: string, days: number): string =>
  said(`must not be more than ${days} days ahead.`)(field)

export const prohibits = (field: string, other: string): string =>
  said(`prohibits ${shown(other)} from being present.`)(field)

/** @param reason the end of a sentence that starts with the field's name, without its full stop */
export const refusedBecause = (field: string, reason: string): string => said(`${reason}.`)(field)

/** @param end the end of a sentence that starts with the field's name, with its full stop */
export const refusedAs = (field: string, end: string): string => said(end)(field)
