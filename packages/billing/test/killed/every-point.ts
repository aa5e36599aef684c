import { expect } from 'vitest'
import { type Child, type ChildOptions, type Report, startChild } from '../child-process.ts'
import type { FlowTest, ProviderCase } from '../support.ts'
import type { Asking } from './story.ts'

/** Seconds a killed process keeps the retry waiting here; operations take a fraction of it. */
export const LEASE = 1

/** Processes start slowly on a busy machine. */
export const LONG = { timeout: 600_000 }

/** A point before a statement that changes rows. */
export const WRITE = /^before (insert|update|delete)/

/**
 * Runs the job to its end once, which tells how many points it has, and then once for each of them;
 * gives what it was stopped at.
 */
export async function tryEveryPoint(
  test: FlowTest,
  { provider }: ProviderCase,
  /** Most of the time is spent waiting for the lease. */
  { atOnce, ...child }: { readonly atOnce: number } & ChildOptions,
  run: (child: Child, stopAt: number) => Promise<Report>,
): Promise<string[]> {
  const tryPoint = async (stopAt: number) =>
    run(await startChild(test, provider, { lockLease: LEASE, ...child }), stopAt)
  const { steps = 0 } = await tryPoint(Number.MAX_SAFE_INTEGER)
  const points: string[] = []
  let next = 1
  const worker = async () => {
    while (next <= steps) {
      const stopAt = next++
      points[stopAt - 1] = (await tryPoint(stopAt)).stopped ?? ''
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  // On a busy machine the first run may have renewed its lease once more than others, which end before its last points.
  while (points.at(-1) === '') points.pop()
  return points
}

/** None was left out, and the kinds of effect that the job has are among them. */
export function expectPoints(
  points: readonly string[],
  kinds: readonly ('calls' | 'writes')[],
): void {
  expect(Array.from(points).filter((point) => !point)).toEqual([])
  const has = (pattern: RegExp) => points.some((point) => pattern.test(point))
  for (const kind of kinds) {
    if (kind === 'writes') expect(has(WRITE)).toBe(true)
    else expect(has(/^before [A-Z]+ /)).toBe(true)
  }
}

let users = 100

/** A user of its own, and a card. Braintree's nonce works once, as a real one. */
export async function prepare(test: FlowTest, given: ProviderCase): Promise<Asking> {
  const id = ++users
  const email = `user-${id}@example.com`
  await test.database.kysely.insertInto('users').values({ id, email, name: 'Ada' }).execute()
  const user = await test.billing.user(id)
  const card = given.provider === 'stripe' ? given.card : test.sandbox.braintree.createNonce()
  return { test, given, user, card }
}
