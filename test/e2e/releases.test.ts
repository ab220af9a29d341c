/**
 * What changes the definitions of a whole cluster: on one of its own, one after another. Each makes sure of what it needs;
 * in this order there is least to do for that.
 */
import { describe } from 'vitest'
import { readme } from './releases/readme.ts'
import { removal } from './releases/removal.ts'
import { uninstall } from './releases/uninstall.ts'
import { upgrade } from './releases/upgrade.ts'

describe('an upgrade', () => {
  upgrade()
})
describe('an uninstall', () => {
  uninstall()
})
describe('removing everything', () => {
  removal()
})
describe('the README', () => {
  readme()
})
