import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { findFreePort } from '../../../test-support/free-port.ts'
import { withClockAhead } from '../../../test-support/wrong-clock.ts'

// Built by `npm test` before the tests run.
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tollgate-clocks-'))
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'

let test: TestDatabase
let environment: Record<string, string>
const children: ChildProcess[] = []

beforeAll(async () => {
  test = await createTestDatabase()
  environment = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    DATABASE_URL: test.url,
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
    TOLLGATE_URL: 'http://localhost:1',
    STRIPE_SECRET: 'sk_test_unused',
    STRIPE_WEBHOOK_SECRET: 'whsec_unused',
    TOLLGATE_DRAIN_SECONDS: '0',
  }
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await test.drop()
  rmSync(folder, { recursive: true, force: true })
})

function start(clockAhead: number, args: readonly string[], more: Record<string, string> = {}) {
  const wrong = withClockAhead(clockAhead)
  const child = spawn(process.execPath, [...wrong.args, program, ...args], {
    env: { ...environment, ...wrong.env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { output: () => output, ended }
}

async function serve(clockAhead: number) {
  const port = await findFreePort()
  const { output } = start(clockAhead, ['serve'], { PORT: String(port) })
  const url = `http://127.0.0.1:${port}`
  const up = () => fetch(`${url}/healthz`).then(({ status }) => expect(status, output()).toBe(200))
  await vi.waitFor(up, { timeout: 50_000, interval: 100 })
  const ready = async () => {
    const response = await fetch(`${url}/readyz`)
    return [response.status, ((await response.json()) as { status: string }).status]
  }
  return { url, output, ready }
}

/** Runs a command with a wrong clock. Returns its exit code and all of its output. */
async function run(clockAhead: number, ...args: string[]) {
  const { ended, output } = start(clockAhead, args)
  return { code: await ended, output: output() }
}

describe('a second process with a wrong clock (threat Q5)', () => {
  let right: Awaited<ReturnType<typeof serve>>
  let client: { readonly id: string; readonly secret: string }

  const ask = async (url: string, form: Record<string, string>) => {
    const credentials = { client_id: client.id, client_secret: client.secret }
    const body = new URLSearchParams({ ...credentials, ...form })
    const response = await fetch(`${url}/oauth/token`, { method: 'POST', body })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const byPassword = { grant_type: 'password', username: EMAIL, password: PASSWORD }

  beforeAll(async () => {
    right = await serve(0)
    await run(0, 'user', 'create', '--email', EMAIL, '--password', PASSWORD)
    const made = await run(0, 'client', 'create', '--name', 'Own', '--password', '--json')
    client = JSON.parse(made.output)
  })

  it('is not ready, issues nothing and logs the reason', async () => {
    const wrong = await serve(2 * MINUTE)
    expect(await wrong.ready()).toEqual([503, 'the clock is wrong'])
    expect(await right.ready()).toEqual([200, 'ok'])
    expect((await ask(wrong.url, byPassword)).status).toBe(503)
    expect((await ask(right.url, byPassword)).status).toBe(200)
    expect(wrong.output()).toMatch(/"level":"error".+is 1\d\d s ahead of the database's/)
    expect(wrong.output()).not.toContain('The database is unavailable')
  })

  it('deletes no valid refresh token with tollgate purge, even if its clock is 400 days ahead', async () => {
    const { body } = await ask(right.url, byPassword)
    const { code, output } = await run(400 * DAY, 'purge')
    expect(code).toBe(1)
    expect(output).toContain('Nothing was done. The clock of this process is')
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token ?? '' }
    expect((await ask(right.url, refresh)).status).toBe(200)
  })

  it('works again after tollgate clock repair, if a wrong time was recorded', async () => {
    await test.database.kysely
      .updateTable('tollgate_clock')
      .set({ newest: Date.now() + DAY })
      .execute()
    const poisoned = { timeout: 20_000, interval: 200 }
    await expect.poll(right.ready, poisoned).toEqual([503, 'the clock is wrong'])
    const { output } = await run(0, 'doctor')
    expect(output).toMatch(/PROBLEM {2}clock .+ run tollgate clock repair/)
    const { code } = await run(0, 'clock', 'repair')
    expect(code).toBe(0)
    await expect.poll(right.ready, { timeout: 20_000, interval: 200 }).toEqual([200, 'ok'])
    expect((await ask(right.url, byPassword)).status).toBe(200)
  })
})
