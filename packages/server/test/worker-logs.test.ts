import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { findFreePort } from '../../../test-support/free-port.ts'
import { type Program, startProgram, untilServing } from './built-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-worker-logs-'))
const settings = join(folder, 'tollgate.config.mjs')
const started: Program[] = []
let test: TestDatabase

beforeAll(async () => {
  test = await createTestDatabase()
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await test.drop()
  rmSync(folder, { recursive: true, force: true })
})

const configure = (text: string) => writeFileSync(settings, text)

async function start() {
  const port = await findFreePort()
  const program = startProgram(['serve', '--workers', '2'], {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: test.url,
    TOLLGATE_CONFIG: settings,
    TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
    TOLLGATE_URL: 'http://localhost:1',
    TOLLGATE_DRAIN_SECONDS: '0',
    STRIPE_SECRET: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
  })
  started.push(program)
  const url = `http://127.0.0.1:${port}`
  await untilServing(program, url)
  await expect.poll(() => program.output().includes('"workers":2')).toBe(true)
  return { ...program, url }
}

/** Lines of the log, the last of which may not have arrived completely yet. */
const completeLines = (text: string) => text.split('\n').slice(0, -1)

describe('the level of the log', () => {
  it('changes for each area when workers reload the setting logLevel', async () => {
    configure("export default { logLevel: 'info' }")
    const { child, output, ended, url } = await start()
    const visit = () => fetch(`${url}/visited`, { headers: { connection: 'close' } })
    await visit()
    await expect.poll(() => output().includes('"path":"/visited"')).toBe(true)
    expect(output()).toContain('"area":"requests"')
    expect(output().includes('"area":"database"')).toBe(false)

    configure("export default { logLevel: 'info,requests=silent,database=debug' }")
    child.kill('SIGHUP')
    await expect.poll(() => output().includes('"msg":"reloaded"')).toBe(true)
    const retired = () => output().split('"msg":"A worker has ended"').length - 1
    await expect.poll(retired).toBe(2)
    const before = output().length
    await visit()
    await expect.poll(() => output().slice(before).includes('"area":"database"')).toBe(true)
    expect(output().slice(before).includes('/visited')).toBe(false)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

describe('long lines of several workers', () => {
  it('are not mixed, even if the reader of the log is slow', async () => {
    // Whatever a worker prints, such as a long error.
    configure(`import cluster from 'node:cluster'
      if (cluster.isWorker) {
        const { id } = cluster.worker
        setInterval(() => {
          for (let n = 0; n < 3; n++) {
            console.log(JSON.stringify({ worker: id, text: String(id).repeat(30000) }))
          }
        }, 20).unref()
      }
      export default {}`)
    const { child, output, ended } = await start()
    for (let turn = 0; turn < 10; turn++) {
      child.stdout?.pause()
      await sleep(100)
      child.stdout?.resume()
      await sleep(20)
    }
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    const lines = completeLines(output()).filter((line) => line.includes('text'))
    expect(lines.length).toBeGreaterThan(100)
    const broken = lines.filter((line) => !/^\{"worker":(\d+),"text":"\1+"\}$/.test(line))
    expect(broken.map((line) => line.slice(0, 50))).toEqual([])
  })
})
