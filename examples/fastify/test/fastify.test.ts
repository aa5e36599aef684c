import { describeExample } from '../../../test-support/example-journey.ts'

describeExample({ name: 'fastify', args: ['dist/main.js'] })
