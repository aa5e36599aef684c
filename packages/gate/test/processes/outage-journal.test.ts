import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bundleChild } from '../../../../test-support/bundle-child.ts'
import { startTcpProxy, type TcpProxy } from '../../../../test-support/tcp-proxy.ts'
import { startGate, type TestGate, user } from '../start-gate.ts'

/** SQLite has no server that could fail. */
const isServer = process.env.TEST_DATABASE !== 'sqlite'
const script = fileURLToPath(new URL('./outage-child.mjs', import.meta.url))

let folder: string
let child: ChildProcess | null = null
let proxy: TcpProxy | null = null
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
})
afterEach(async () => {
  child?.kill('SIGKILL')
  await proxy?.close()
  rmSync(folder, { recursive: true, force: true })
})

const usedOf = async (gate: TestGate) =>
  (await gate.usage(user())).find(({ meter }) => meter === 'lenient')?.used ?? 0

/** Lines of all files of the journal: one for each use that was admitted during the outage. */
const countLines = (journal: string) =>
  readdirSync(journal)
    .map((name) => readFileSync(join(journal, name), 'utf8'))
    .flatMap((text) => text.split('\n').filter(Boolean)).length

describe.runIf(isServer)('use that a killed process admitted during an outage', () => {
  it('is counted once by the next process, even if the journal is replayed again', async () => {
    const { gate: near, url, another } = await startGate()
    await near.migrate()
    proxy = await startTcpProxy(url)
    const journal = join(folder, 'journal')
    const dots = join(folder, 'admitted')
    const admitted = () => (existsSync(dots) ? statSync(dots).size : 0)
    child = spawn(process.execPath, [await bundleChild(script), proxy.url, dots, journal], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (child.stdout) await once(child.stdout, 'data')
    await expect.poll(admitted).toBeGreaterThan(2)
    await proxy.cut()
    await expect.poll(() => countLines(journal)).toBeGreaterThan(5)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended

    const lines = countLines(journal)
    const counted = await usedOf(near)
    // Everything that was admitted is either counted or in the journal.
    expect(counted + lines).toBeGreaterThanOrEqual(admitted())
    expect(lines).toBeLessThanOrEqual(20)
    const copies = join(folder, 'copies')
    cpSync(journal, copies, { recursive: true })

    const next = await another({ journal })
    await next.planOf(user())
    await expect.poll(() => usedOf(near)).toBe(counted + lines)

    // As after a crash between counting and deleting: the same files are found again.
    cpSync(copies, journal, { recursive: true })
    const third = await another({ journal })
    await third.planOf(user())
    await expect
      .poll(() => readdirSync(journal).every((name) => name.endsWith('.closed.jsonl')))
      .toBe(true)
    await third.close()
    expect(await usedOf(near)).toBe(counted + lines)
  })
})
