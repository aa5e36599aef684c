import { describeExample } from '../../../test-support/example-journey.ts'

describeExample({ name: 'hono', args: ['dist/main.js'] })
