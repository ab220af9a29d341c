import { describeSeeds } from './seed-suite.ts'

describeSeeds(1, 2)
