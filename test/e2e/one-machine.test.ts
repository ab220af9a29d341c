/** One machine with Docker and nothing else: the README's two ways, each with containers and volumes of its own. */
import { describe } from 'vitest'
import { compose } from './one-machine/compose.ts'
import { standaloneImage } from './one-machine/standalone-image.ts'

describe('compose', () => {
  compose()
})
describe('the image with a Redis in it', () => {
  standaloneImage()
})
