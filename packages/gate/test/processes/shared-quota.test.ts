import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { bundleChild } from '../../../../test-support/bundle-child.ts'
import { startGate } from '../start-gate.ts'

const QUOTA = 10_000
const script = fileURLToPath(new URL('./child.mjs', import.meta.url))
const children: ChildProcess[] = []
const folder = mkdtempSync(join(tmpdir(), 'tollgate-gate-'))

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Worker {
  readonly child: ChildProcess
  /** Number of calls that the process has admitted. */
  admitted(): number
}

let files = 0

async function startWorker(url: string, clients: number): Promise<Worker> {
  files += 1
  const file = join(folder, `admitted-${files}`)
  const child = spawn(process.execPath, [await bundleChild(script), url, file, String(clients)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  await once(child.stdout, 'data')
  return { child, admitted: () => (existsSync(file) ? statSync(file).size : 0) }
}

const begin = (workers: readonly Worker[]) => {
  for (const { child } of workers) child.stdin?.write('go\n')
}

const hasEnded = ({ child }: Worker) => child.exitCode !== null || child.signalCode !== null
const total = (workers: readonly Worker[]) =>
  workers.reduce((sum, worker) => sum + worker.admitted(), 0)

describe('processes that share a quota of 10,000 (threat N6, threat Q10)', () => {
  it.each([2, 4])('admit exactly 10,000 calls if 200 callers use %i processes', async (count) => {
    const { url, gate } = await startGate()
    await gate.migrate()
    const workers: Worker[] = []
    for (let at = 0; at < count; at += 1) workers.push(await startWorker(url, 200 / count))
    begin(workers)
    await expect.poll(() => workers.every(hasEnded)).toBe(true)
    expect(total(workers)).toBe(QUOTA)
  })

  it('never admit more than the quota if processes are killed, and lose at most the units that these processes had leased', async () => {
    const { url, gate, database } = await startGate()
    await gate.migrate()
    const workers: Worker[] = []
    for (let at = 0; at < 3; at += 1) workers.push(await startWorker(url, 20))
    begin(workers)
    for (let kills = 1; kills <= 3; kills += 1) {
      const target = (QUOTA * kills) / 5
      await expect.poll(() => total(workers), { interval: 5 }).toBeGreaterThan(target)
      workers.at(-1)?.child.kill('SIGKILL')
      workers.push(await startWorker(url, 20))
      begin(workers.slice(-1))
    }
    await expect.poll(() => workers.every(hasEnded)).toBe(true)
    const admitted = total(workers)
    const { taken } = await database.kysely
      .selectFrom('gate_counters')
      .select('taken')
      .executeTakeFirstOrThrow()
    expect(Number(taken)).toBe(QUOTA)
    expect(admitted).toBeLessThanOrEqual(QUOTA)
    // Each process takes at most half of its share of what is left: a third of it with one process.
    expect(admitted).toBeGreaterThan(QUOTA / 4)
  })

  it('never admit more than the quota if a process is suspended and continues later', async () => {
    const { url, gate } = await startGate()
    await gate.migrate()
    const workers = [await startWorker(url, 50), await startWorker(url, 50)]
    const [paused] = workers as [Worker, Worker]
    begin(workers)
    await expect.poll(() => paused.admitted(), { interval: 5 }).toBeGreaterThan(500)
    paused.child.kill('SIGSTOP')
    const before = paused.admitted()
    await expect.poll(() => workers[1] && hasEnded(workers[1])).toBe(true)
    expect(paused.admitted()).toBe(before)
    paused.child.kill('SIGCONT')
    await expect.poll(() => workers.every(hasEnded)).toBe(true)
    expect(total(workers)).toBeLessThanOrEqual(QUOTA)
    expect(total(workers)).toBeGreaterThan(QUOTA / 2)
  })
})
