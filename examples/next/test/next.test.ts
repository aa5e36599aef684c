import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { exampleFolder, withoutTests } from '../../../test-support/example-app.ts'
import { describeExample } from '../../../test-support/example-journey.ts'

const next = createRequire(import.meta.url).resolve('next/dist/bin/next')

describeExample({
  name: 'next',
  args: [next, 'start'],
  exitCode: 143, // 128 + SIGTERM: how Next exits after it has closed its server
  /**
   * Builds the app, which also checks its types. The build must not connect to anything, nor deploy
   * more than it needs.
   */
  async prepare() {
    const env = withoutTests({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [next, 'build'], {
      cwd: exampleFolder('next'),
      env,
    })
    expect(stdout + stderr).not.toContain('tracing of the whole project')
  },
})
