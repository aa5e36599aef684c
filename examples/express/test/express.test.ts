import { describeExample } from '../../../test-support/example-journey.ts'

describeExample({ name: 'express', args: ['dist/main.js'] })
