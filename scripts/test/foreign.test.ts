import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('npm run check:foreign ends with 1 if billing cannot be started for the webhooks', async () => {
  const script = `
    import { receive } from ${JSON.stringify(new URL('../foreign/webhooks.mjs', import.meta.url).href)}
    await receive(() => Promise.reject(new Error('no billing today'))).catch(({ message }) => {
      console.error(message)
      process.exitCode = 1
    })`
  const run = promisify(execFile)('node', ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    timeout: 30_000,
  })
  await expect(run).rejects.toMatchObject({
    code: 1,
    killed: false,
    stderr: expect.stringContaining('no billing today'),
  })
})
