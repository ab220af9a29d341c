import { describeSeeds } from './seed-suite.ts'

describeSeeds(0, 2)
