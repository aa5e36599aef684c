import { expect } from 'vitest'
import type { BillableUser } from '../../src/index.ts'
import { applyOurEndDates, readSandboxState, readTableState } from '../provider-truth.ts'
import { type FlowTest, sumChargedCents } from '../support.ts'
import { findMainSubscription, type Outcome, type Story, type StoryRun } from './story.ts'

export async function expectOutcome({ outcome }: Story, run: StoryRun, at: string): Promise<void> {
  if (typeof outcome !== 'function') return expectSubscription(run, outcome, at)
  await expectTruth(run.test, run.user, at)
  await outcome(run, at)
}

async function expectSubscription(
  run: StoryRun,
  { taken, made, plan, state }: Outcome,
  at: string,
): Promise<void> {
  const { test, user } = run
  const found = await findMainSubscription(run)
  expect([found.providerPlan, found.valid(), found.cancelled()], at).toEqual([
    plan,
    state !== 'ended',
    state !== 'running',
  ])
  expect(sumChargedCents(test, user), at).toBe(taken)
  const truth = await expectTruth(test, user, at)
  expect(truth.subscriptions.length, at).toBe(made[user.provider])
  const over = ['canceled', 'Canceled', 'Expired', 'incomplete_expired']
  const live = truth.subscriptions.filter(({ status }) => !over.includes(status))
  expect(
    live.map(({ id }) => id),
    at,
  ).toEqual(found.providerStatus === 'Canceled' || state === 'ended' ? [] : [found.providerId])
}

/**
 * Checks that there is one customer, that the rows equal the provider's objects, and that no
 * operation is left unfinished.
 */
export async function expectTruth(test: FlowTest, user: BillableUser, at: string) {
  const { sandbox, database } = test
  const { email } = user.attributes as { email: string }
  const emails =
    user.provider === 'stripe'
      ? sandbox.stripe.customers().map((customer) => customer.email)
      : sandbox.braintree.customers().map((customer) => customer.email)
  expect(
    emails.filter((each) => each === email),
    at,
  ).toHaveLength(1)
  const rows = await readTableState(database, user.id)
  const atProvider = readSandboxState(sandbox, user.provider, user.providerId ?? '')
  const when = { now: sandbox.clock.now(), hasCancelledNow: false }
  const truth = applyOurEndDates(atProvider, rows, when)
  expect(rows, at).toEqual(truth)
  expect(await openOperations(test, user.id), at).toEqual([])
  return truth
}

export function openOperations({ database }: FlowTest, userId: string | number) {
  return database.kysely
    .selectFrom('billing_operations')
    .selectAll()
    .where('user_id', '=', userId)
    .execute()
}
