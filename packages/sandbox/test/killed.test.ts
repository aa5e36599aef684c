import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Stripe from 'stripe'
import { expect, it, onTestFinished } from 'vitest'
import { bundleChild } from '../../../test-support/bundle-child.ts'
import { startSandbox } from '../src/index.ts'

const SCRIPT = fileURLToPath(new URL('killed-child.mjs', import.meta.url))
const KILLS = Number(process.env.KILLS ?? 30)

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}

/** Returns a generator of pseudo-random numbers that are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x80000000
  }
}

/** Objects that the sandbox confirmed in a response, so they must exist afterwards. */
interface Answered {
  readonly customers: Map<string, string>
  now: number
}

// Starts many processes, which takes minutes on a busy machine.
it('a sandbox with a state file loses no confirmed object, whenever its process is killed', {
  timeout: 900_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-killed-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'state.json')
  const port = await freePort()
  const program = await bundleChild(SCRIPT)
  const random = createRandom(16)
  const answered: Answered = { customers: new Map(), now: 0 }
  let killed = 0
  for (let round = 0; round < KILLS; round++) {
    const args = [file, port, 1 + Math.floor(random() * 12), Math.max(0, random() * 2 - 1)]
    const child = spawn(process.execPath, [program, ...args.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    if (await isReady(child, ended)) await callUntilKilled(port, answered, round, ended)
    const [, signal] = await ended
    if (signal === 'SIGKILL') killed++
  }
  expect(killed).toBe(KILLS)
  expect(answered.customers.size).toBeGreaterThan(KILLS)
  const last = await startSandbox({ stripe: true, stateFile: file })
  for (const [id, email] of answered.customers) {
    expect(last.stripe.customer(id)).toMatchObject({ email })
  }
  expect(last.clock.nowMs()).toBeGreaterThanOrEqual(answered.now * 1000)
  expect(last.failedJobs()).toEqual([])
  await last.close()
  expect(await readdir(folder)).toEqual(['state.json'])
})

async function isReady(child: ChildProcess, ended: Promise<unknown>): Promise<boolean> {
  const said = child.stdout ? once(child.stdout, 'data').then(() => true) : false
  return Promise.race([said, ended.then(() => false)])
}

/** Checks that all confirmed objects exist, then makes changes until the process is killed. */
async function callUntilKilled(
  port: number,
  answered: Answered,
  round: number,
  ended: Promise<unknown>,
): Promise<void> {
  const stripe = new Stripe('sk_test_tollgate_sandbox', {
    host: '127.0.0.1',
    port,
    protocol: 'http',
    maxNetworkRetries: 0,
  })
  let dead = false
  void ended.then(() => {
    dead = true
  })
  const ask = async <T>(call: Promise<T>): Promise<T | null> => {
    try {
      return await call
    } catch (error) {
      if (error instanceof Stripe.errors.StripeConnectionError) return null
      throw error
    }
  }
  const last = [...answered.customers].at(-1)
  if (last) {
    const found = await ask(stripe.customers.retrieve(last[0]))
    if (found === null) return
    expect(found).toMatchObject({ email: last[1] })
  }
  for (let call = 0; !dead; call++) {
    const email = `c${round}.${call}@example.com`
    const made = await ask(stripe.customers.create({ email }))
    if (made === null) return
    answered.customers.set(made.id, email)
    const changed = await ask(stripe.customers.update(made.id, { email: `new.${email}` }))
    if (changed === null) {
      // The interrupted call may have taken effect.
      answered.customers.delete(made.id)
      return
    }
    answered.customers.set(made.id, `new.${email}`)
  }
}
