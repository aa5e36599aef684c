import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { findFreePort } from '../../../../test-support/free-port.ts'
import { run } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-application-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a module passed to --config', () => {
  const write = (name: string, text: string) => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }
  const failing = async (file: string) => {
    const { code, stderr, stdout } = await run(['--config', file, 'client', 'list'])
    expect([code, stdout]).toEqual([2, ''])
    return stderr
  }

  it('is rejected if it does not exist', async () => {
    expect(await failing(join(folder, 'none.ts'))).toContain('none.ts, which does not exist')
  })

  it('is rejected if it cannot be loaded', async () => {
    expect(await failing(write('wrong.ts', 'export const ='))).toContain(
      'wrong.ts cannot be loaded: ',
    )
    const throws = write('throws.ts', `throw new Error('No secret is set' as string)`)
    expect(await failing(throws)).toContain('throws.ts cannot be loaded: No secret is set')
  })

  it('is rejected if it exports no instances, and the error lists what it exports instead', async () => {
    const stderr = await failing(write('other.ts', 'export const app: number = 1'))
    expect(stderr).toContain('exports neither `oauth` nor `billing`, but app.')
    expect(await failing(write('nothing.ts', ''))).toContain('`billing`, but nothing.')
    const kind = write('kind.ts', `export const oauth = 'https://app.example'`)
    expect(await failing(kind)).toContain('Expected createAuthorizationServer()')
    const rejected = `export const database = new Promise((_, reject) =>
      setTimeout(() => reject(new Error('Cannot open it')), 50))`
    expect(await failing(write('rejected.ts', rejected))).toContain(
      '`database` cannot be opened: Cannot open it',
    )
  })

  it('may export promises, may use a default export, and may contain only one of the two libraries', async () => {
    const file = fileURLToPath(new URL('./oauth-only.ts', import.meta.url))
    const only = (...args: string[]) =>
      run(['--config', file, ...args], { APP_DATABASE_URL: `sqlite:${join(folder, 'app.db')}` })
    expect((await only('migrate')).code).toBe(0)
    expect((await only('keys', 'list')).code).toBe(0)
    const { code, stderr } = await only('billing', 'subscriptions')
    expect([code, stderr]).toEqual([
      2,
      `${file} exports no \`billing\`, which this command needs\n`,
    ])
    const gone = await run(['--config', file, 'keys', 'list'], {
      APP_DATABASE_URL: `sqlite:${join(folder, 'no such folder')}/app.db`,
    })
    expect([gone.code, gone.stderr]).toEqual([
      2,
      expect.stringContaining('`database` cannot be opened: '),
    ])
  })

  it('cannot start a server: the server then does not listen', async () => {
    const port = await findFreePort()
    const module = `import { createServer } from 'node:http'
      export const server = createServer().listen(${port}, () => console.log('listening'))`
    const stderr = await failing(write('serves.ts', module))
    expect(stderr).toContain(`starts a server (on port ${port}) when it is loaded`)
  })

  it('does not keep the process running by its own timers and connections', async () => {
    const { code } = await run([
      ...['--config', write('timers.ts', 'setInterval(() => {}, 1000)'), 'client', 'list'],
    ])
    expect(code).toBe(2)
  })
})
